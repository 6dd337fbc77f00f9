import { RecordLog } from '../../../src/adapters/sqlite/record-log.js';
import type { RetentionRules } from '../../../src/adapters/sqlite/sweeper.js';
import { auditCompleteness } from '../../../src/audit/completeness.js';
import type { CompletenessParts } from '../../../src/audit/reading.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { named, records, texts } from '../../contract/broker/inbox.js';
import { collect } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { scratchInMemory } from '../../support/scenes/scratch-in-memory.js';
import { Sweeping } from '../../support/scenes/sweeping.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const HOUR = 3_600_000;
const WEEK = 168 * HOUR;
const later = (ms: number) => Date.now() + ms;

let folder: SqliteFolder;
let opened: ReturnType<SqliteFolder['open']>;
beforeEach(() => {
  folder = new SqliteFolder();
  opened = folder.open();
});
afterEach(() => folder.close());

function sweeping(rules: Partial<RetentionRules> = {}, { file } = opened): Sweeping {
  const swept = new Sweeping(file, { keptMs: WEEK, ...rules });
  folder.onClose(() => swept.stop());
  return swept;
}

const left = async (topic = 'topic') => texts(await collect(topicRecords(opened.broker, topic)));

async function consume(group: string, isDone: (record: ReceivedRecord) => boolean = () => true) {
  let letGo: () => void = () => undefined;
  const closing = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  folder.onClose(() => letGo());
  const handle = async (one: ReceivedRecord) => {
    if (!isDone(one)) await closing;
  };
  const consumer = await opened.broker.consume({
    topics: ['topic'],
    group,
    inFlight: 1_000,
    accept: () => ({ handle }),
  });
  return { consumer, remembered: (next: number) => eventually(() => offsetOf(group) === next) };
}

function offsetOf(group: string): unknown {
  const sql = 'SELECT next_offset FROM group_offsets WHERE group_name = ?';
  return opened.file.file.prepare(sql).pluck().get(group);
}

test('who reads what is left is told since when it is complete', async () => {
  const { file, broker, store } = opened;
  const topics = topicsOf(['topic'], '');
  for (const topic of ['topic', topics.deliveries]) await broker.publish(topic, records(named(3)));
  const log = new RecordLog(file);
  const groups = { payments: 'group', retries: 'group.retry' };
  const read: CompletenessParts['records'] = (topic, options) => topicRecords(broker, topic, options);
  const parts = { broker, records: read, store, topics, groups, scratch: scratchInMemory };
  const lost = async (from: number) => (await auditCompleteness(parts, { from, to: later(0), account: null })).lost;
  expect([log.completeSince('topic'), await lost(0)]).toEqual([null, []]);
  await sweeping().round(later(2 * WEEK));
  const [{ timestamp } = { timestamp: 0 }] = await collect(topicRecords(broker, 'topic'));
  expect(log.completeSince('topic')).toBe(timestamp);
  expect(await broker.extent('topic')).toEqual(new Map([[0, { first: 2, next: 3 }]]));
  expect(await lost(0)).toMatchObject([{ topic: 'topic', why: expect.any(String) }, { topic: topics.deliveries }]);
  // They were not done: no later period is free of the loss.
  expect(await lost(later(0))).toMatchObject([
    { topic: 'topic', why: expect.stringContaining('before they were done') },
  ]);
});

describe('beside the work', () => {
  test('the file stops growing while records come and go', async () => {
    const swept = sweeping({ keptMs: HOUR });
    const { remembered } = await consume('group');
    const sizes: number[] = [];
    for (let round = 1; round <= 20; round += 1) {
      await opened.broker.publish('topic', records(named(200).map((name) => name + 'x'.repeat(1_000))));
      await remembered(round * 200);
      await swept.round(later(2 * HOUR));
      sizes.push(opened.file.file.pragma('page_count', { simple: true }) as number);
    }
    expect(sizes.at(-1)).toBeLessThanOrEqual((sizes[2] ?? 0) * 1.1);
  });

  test('it removes in small transactions, and rests after each', async () => {
    await opened.broker.publish('topic', records(named(5_000)));
    const swept = sweeping();
    await swept.round(later(2 * WEEK));
    const small = swept.rests.length;
    expect(small).toBe(10);
    await opened.broker.publish('topic', records(named(10).map((name) => name + 'x'.repeat(500_000))));
    await swept.round(later(2 * WEEK));
    expect(swept.rests.length).toBeGreaterThan(small + 2);
  });

  test('it says once that the file can not be written to, and goes on later', async () => {
    await opened.broker.publish('topic', records(named(3)));
    const swept = sweeping();
    await eventually(() => swept.waits);
    opened.file.file.pragma('query_only = true');
    await swept.round(later(2 * WEEK));
    await swept.round(later(2 * WEEK));
    expect(swept.logger.warnings).toHaveLength(1);
    opened.file.file.pragma('query_only = false');
    await swept.round(later(2 * WEEK));
    expect(await left()).toEqual(['2']);
  });
});

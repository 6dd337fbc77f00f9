import { setTimeout as delay } from 'node:timers/promises';
import { RecordLog } from '../../../src/adapters/sqlite/record-log.js';
import { type RetentionRules, Sweeper } from '../../../src/adapters/sqlite/sweeper.js';
import { auditCompleteness } from '../../../src/audit/completeness.js';
import type { CompletenessParts } from '../../../src/audit/reading.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { named, record, records, texts } from '../../contract/broker/inbox.js';
import { collect } from '../../contract/contract.js';
import { patience } from '../../runner/patience.js';
import { eventually } from '../../support/eventually.js';
import { scratchInMemory } from '../../support/scratch-in-memory.js';
import { silentLogger } from '../../support/silent-logger.js';
import { SqliteFolder } from '../../support/sqlite-folder.js';
import { Sweeping } from '../../support/sweeping.js';

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
  const handler = async (one: ReceivedRecord) => {
    if (!isDone(one)) await closing;
  };
  const consumer = await opened.broker.consume({ topics: ['topic'], group, inFlight: 1_000, handler });
  return { consumer, remembered: (next: number) => eventually(() => offsetOf(group) === next) };
}

function offsetOf(group: string): unknown {
  const sql = 'SELECT next_offset FROM group_offsets WHERE group_name = ?';
  return opened.file.file.prepare(sql).pluck().get(group);
}

const fiveHundred = () => records(named(500).map((name) => name + 'x'.repeat(1_000)));

/** How long it took, ms: median and p99. */
async function publishing(times: number): Promise<[median: number, p99: number]> {
  const took: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const begun = performance.now();
    await opened.broker.publish('hot', [record('x'.repeat(1_000))]);
    took.push(Math.round(100 * (performance.now() - begun)) / 100);
    await delay(2);
  }
  const sorted = took.toSorted((a, b) => a - b);
  return [sorted[Math.floor(times / 2)] ?? Number.NaN, sorted[Math.floor(times * 0.99)] ?? Number.NaN];
}

describe('by age', () => {
  test('what is done goes when it is old, but for the newest of each topic; offsets go on', async () => {
    await opened.broker.publish('topic', records(named(1_200)));
    const { consumer, remembered } = await consume('group');
    await remembered(1_200);
    const swept = sweeping();
    await swept.round(later(WEEK - HOUR));
    expect(await left()).toHaveLength(1_200);
    await swept.round(later(WEEK + 1));
    expect(await left()).toEqual(['1199']);
    await consumer.close();
    await opened.broker.publish('topic', [record('new')]);
    const [, last] = await collect(topicRecords(opened.broker, 'topic'));
    expect(last).toMatchObject({ offset: 1_200 });
  });

  test('what a group is not done with stays, and with it what is behind', async () => {
    await opened.broker.publish('topic', records(named(10)));
    const { remembered } = await consume('group', ({ offset }) => offset !== 4);
    await remembered(4);
    await sweeping().round(later(10 * WEEK));
    expect(await left()).toEqual(named(10).slice(4));
  });

  test('a group that has not done anything yet keeps everything', async () => {
    await opened.broker.publish('topic', records(named(3)));
    await consume('group', () => false);
    const { remembered } = await consume('quick');
    await remembered(3);
    await sweeping().round(later(10 * WEEK));
    expect(await left()).toEqual(named(3));
  });

  test('a group that has to come keeps everything before it has begun', async () => {
    await opened.broker.publish('topic', records(named(3)));
    await opened.broker.publish('other', records(named(3)));
    const swept = sweeping({ groupsOf: (topic) => (topic === 'topic' ? ['group'] : []) });
    await swept.round(later(10 * WEEK));
    expect([await left(), await left('other')]).toEqual([named(3), ['2']]);
  });

  test('without a time, nothing goes', async () => {
    await opened.broker.publish('topic', records(named(3)));
    await sweeping({ keptMs: null }).round(later(10_000 * WEEK));
    expect(await left()).toEqual(named(3));
  });
});

test('who reads what is left is told since when it is complete', async () => {
  const { file, broker, store } = opened;
  const topics = topicsOf(['topic'], '');
  for (const topic of ['topic', topics.deliveries]) await broker.publish(topic, records(named(3)));
  const log = new RecordLog(file);
  const groups = { payments: 'group', retries: 'group.retry' };
  const read: CompletenessParts['records'] = (topic, options) => topicRecords(broker, topic, options);
  const parts = { broker, records: read, store, topics, groups, scratch: scratchInMemory, progress: () => undefined };
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

  test('it works in small transactions, and rests after each', async () => {
    await opened.broker.publish('topic', records(named(5_000)));
    const swept = sweeping();
    await swept.round(later(2 * WEEK));
    const small = swept.rests.length;
    // At the end of the topic it rests too if the machine stopped it for a millisecond meanwhile.
    expect([10, 11]).toContain(small);
    await opened.broker.publish('topic', records(named(10).map((name) => name + 'x'.repeat(500_000))));
    await swept.round(later(2 * WEEK));
    expect(swept.rests.length).toBeGreaterThan(small + 2);
  });

  test('publishing does not wait for it', async () => {
    for (let batch = 0; batch < 40; batch += 1) await opened.broker.publish('topic', fiveHundred());
    const before = await publishing(100);
    const stopping = new AbortController();
    const rules = { keptMs: WEEK, groupsOf: () => [] };
    const pause = (ms: number) => delay(ms >= 10_000 ? 0 : ms, undefined, { signal: stopping.signal }).catch(() => {});
    const sweeper = new Sweeper({ store: opened.file, rules, logger: silentLogger, now: () => later(2 * WEEK), pause });
    folder.onClose(() => {
      stopping.abort();
      return sweeper.stop();
    });
    sweeper.start();
    const meanwhile = await publishing(100);
    expect((await left()).length).toBeGreaterThan(1_000);
    console.log(`publish, median and p99: alone ${before}, while it sweeps ${meanwhile}`);
    expect(meanwhile[1]).toBeLessThan(1_000 * patience());
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

/** Who stands before a batch that can't be read, and what lets him go on. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { isOrderToSkip, skipped } from '../../src/delivery/retry/dead-letters.js';
import { Standstills } from '../../src/delivery/standstill.js';
import {
  BrokerUnavailable,
  type BrowseOptions,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../../src/ports/broker.js';
import { eventually } from '../support/eventually.js';
import { type RecordingLogger, recordingLogger } from '../support/recording-logger.js';

const BATCH: UnreadableBatch = {
  ...{ topic: 'payments', partition: 3, first: 17, last: 19 },
  ...{ codec: 'zstd', reason: 'its checksum does not match', digest: 'd1' },
};

let letters: ReceivedRecord[];
let readings: number;
let fails: boolean;
let pauses: number[];
let logger: RecordingLogger;
let partitions: AbortController[];
let standstills: Standstills;

beforeEach(() => {
  letters = [];
  readings = 0;
  fails = false;
  pauses = [];
  logger = recordingLogger();
  partitions = [];
  const pause = async (ms: number) => {
    pauses.push(ms);
    await turn();
  };
  standstills = new Standstills({ broker: { browse }, topics: { deadLetters: 'letters' }, logger, pause });
});
afterEach(() => {
  for (const partition of partitions) partition.abort();
});

async function* browse(_: string, { follow }: BrowseOptions = {}): AsyncIterable<ReceivedRecord> {
  readings += 1;
  if (fails) throw new BrokerUnavailable('no permission');
  for (let next = 0; !follow?.aborted; await turn()) {
    const letter = letters[next];
    if (!letter) continue;
    next += 1;
    yield letter;
  }
}

function order(batch: UnreadableBatch): void {
  const place = { topic: 'letters', partition: 0, offset: letters.length, timestamp: 0 };
  letters.push({ ...skipped(batch, 'a bad disk'), ...place });
}

/** Whether it has gone on, as far as is known. */
function at(batch: UnreadableBatch) {
  const partition = new AbortController();
  partitions.push(partition);
  const block = { passed: false, gone: false };
  standstills.at(batch, partition.signal).then(
    () => Object.assign(block, { passed: true }),
    () => Object.assign(block, { gone: true }),
  );
  return block;
}

test('an order that was given before lets it go on, and one that is given later', async () => {
  order(BATCH);
  const first = at(BATCH);
  await eventually(() => first.passed);
  const other = { ...BATCH, digest: 'd2' };
  const second = at(other);
  await eventually(() => readings === 2);
  order(other);
  await eventually(() => second.passed);
});

test('many are read for by one, and each goes on by its own order', async () => {
  const batches = Array.from({ length: 20 }, (_, partition) => ({ ...BATCH, partition, digest: `d${partition}` }));
  const all = batches.map((batch) => at(batch));
  await eventually(() => readings === 20);
  for (const batch of batches.slice(1)) order(batch);
  await eventually(() => all.slice(1).every(({ passed }) => passed));
  expect(all[0]?.passed).toBe(false);
  expect(readings).toBe(20);
});

test('where orders can not be read that is told, and tried again', async () => {
  fails = true;
  const block = at(BATCH);
  await eventually(() => readings >= 7);
  expect(pauses.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(logger.warnings.map(([, message]) => message)).toContain(
    'orders to step over a batch can not be read; retrying',
  );
  fails = false;
  order(BATCH);
  await eventually(() => block.passed);
});

test('whose partition is gone waits no longer, and nothing is read for nobody', async () => {
  const block = at(BATCH);
  await eventually(() => readings === 1);
  partitions[0]?.abort();
  await eventually(() => block.gone);
  const next = at({ ...BATCH, digest: 'd2' });
  order(BATCH);
  await turn();
  expect([block.passed, next.passed]).toEqual([false, false]);
  order({ ...BATCH, digest: 'd2' });
  await eventually(() => next.passed);
});

test.each([
  ['the batch itself', {}, true],
  ['one whose first offset others see otherwise, its header being damaged', { first: 15 }, true],
  ['another batch at these offsets, of a topic that was made anew', { digest: 'd2' }, false],
  ['the same bytes at other offsets', { first: 18, last: 20 }, false],
  ['another partition', { partition: 4 }, false],
  ['another topic', { topic: 'other' }, false],
])('an order is for: %s: %j, %s', (_, changes, is) => {
  expect(isOrderToSkip(skipped(BATCH, 'why'), { ...BATCH, ...changes })).toBe(is);
});

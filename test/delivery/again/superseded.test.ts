import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { Superseded, type SupersededParts, toMark } from '../../../src/delivery/again/superseded.js';
import { BrokerUnavailable, type FollowOptions, type Positions } from '../../../src/ports/broker.js';
import { eventually } from '../../support/eventually.js';
import { recordingLogger } from '../../support/recording-logger.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const TOPIC = 'webhooks.superseded';
const PAYMENT = 'payment-events/0/7@1';
const mark = (turn: number, id = 'msg_1', payment = PAYMENT) => ({ id, payment, turn });

let folder: ReturnType<typeof temporaryDirectory>;
let file: StoreFile;
let broker: SqliteBroker;
let following: AbortController;
let logger: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  folder = temporaryDirectory();
  file = new StoreFile(folder.path);
  broker = new SqliteBroker(file);
  await broker.ensureTopics([TOPIC]);
  following = new AbortController();
  logger = recordingLogger();
});
afterEach(async () => {
  following.abort();
  await broker.close();
  file.close();
  folder.remove();
});

async function started(parts: Partial<SupersededParts> = {}): Promise<Superseded> {
  const all = { broker, topics: { superseded: TOPIC }, logger, pause: async () => undefined };
  const superseded = new Superseded({ ...all, longestWaitMs: 60_000, now: Date.now, ...parts });
  await superseded.start(following.signal);
  return superseded;
}

const publish = (...marks: ReturnType<typeof mark>[]) => broker.publish(TOPIC, marks.map(toMark));

test('a mark covers the records of its publication up to its turn, and no others', async () => {
  await publish(mark(3));
  const superseded = await started();
  const covered = [mark(0), mark(3), mark(4), mark(3, 'msg_2'), mark(3, 'msg_1', 'payment-events/0/8@1')];
  expect(covered.map((one) => superseded.covers(one))).toEqual([true, true, false, false, false]);
});

test('a record without the place of its payment is never covered', async () => {
  await publish(mark(3));
  expect((await started()).covers({ id: 'msg_1', payment: null, turn: 0 })).toBe(false);
});

test('of two marks of a delivery the higher turn counts, in any order', async () => {
  await publish(mark(5), mark(2));
  expect((await started()).covers(mark(5))).toBe(true);
});

test('a mark that is published later counts too, and foreign records do not disturb', async () => {
  const superseded = await started();
  const foreign = ['{', 'null', '{"id":1}', '{"id":"msg_1","turn":"x"}'].map((value) => Buffer.from(value));
  await broker.publish(TOPIC, [{ key: null, value: null, headers: [] }]);
  await broker.publish(
    TOPIC,
    foreign.map((value) => ({ key: null, value, headers: [] })),
  );
  await publish(mark(1));
  await eventually(() => superseded.covers(mark(1)));
});

test('following that fails is tried again, and misses no mark', async () => {
  let failures = 0;
  const failing = {
    extent: (topic: string) => broker.extent(topic),
    follow: (topic: string, positions: Positions, options: FollowOptions) => {
      if (failures === 2) return broker.follow(topic, positions, options);
      failures += 1;
      throw new BrokerUnavailable('away');
    },
  };
  const superseded = await started({ broker: failing });
  await publish(mark(1));
  await eventually(() => superseded.covers(mark(1)));
  expect(failures).toBe(2);
  expect(logger.warnings).toHaveLength(2);
});

test('a dispatcher does not start without the marks', async () => {
  const away = () => Promise.reject(new BrokerUnavailable('away'));
  await expect(started({ broker: { ...broker, extent: away } as unknown as SqliteBroker })).rejects.toThrow('away');
});

test('marks older than the longest wait are forgotten beyond 20,000, the oldest first', async () => {
  const many = Array.from({ length: 20_002 }, (_, at) => mark(1, `msg_${at}`));
  await publish(...many);
  const young = await started();
  expect([0, 20_001].map((at) => young.covers(mark(1, `msg_${at}`)))).toEqual([true, true]);
  const old = await started({ now: () => Date.now() + 61_000 });
  expect([0, 1, 2, 20_001].map((at) => old.covers(mark(1, `msg_${at}`)))).toEqual([false, false, true, true]);
});

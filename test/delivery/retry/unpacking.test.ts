import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Delivery, toMember } from '../../../src/delivery/delivery.js';
import { endpointKey } from '../../../src/delivery/endpoint-key.js';
import { membersOf, toBundle, withWait } from '../../../src/delivery/retry/bundle.js';
import { Unpacking } from '../../../src/delivery/retry/unpacking.js';
import type { NewRecord, ReceivedRecord, RecordHold } from '../../../src/ports/broker.js';
import { bundleOf, decoded, deliveriesIn } from '../../support/generators/bundles.js';
import { deliveryTo, paymentRecord, received } from '../../support/generators/delivery-samples.js';

const WAIT = { due: 0, moreMs: 0 };
const PER_SLICE = 40;

interface Handed {
  readonly delivery: Delivery;
  readonly end: (error?: Error) => void;
}

let handed: Handed[];
let refused: ReceivedRecord[];
let mayContinue: boolean;
let slices: (() => void)[];
let unpacking: Unpacking;
beforeEach(() => {
  handed = [];
  refused = [];
  slices = [];
  mayContinue = true;
  unpacking = new Unpacking({
    deliver: (delivery) =>
      new Promise<void>((resolve, reject) => {
        handed.push({ delivery, end: (error) => (error ? reject(error) : resolve()) });
      }),
    mayContinue: () => mayContinue,
    refuse: async (record) => void refused.push(record),
    later: (passed) => void slices.push(passed),
  });
});

/** A hold that remembers. */
function hold() {
  const parts = new Set<number>();
  const kept: NewRecord[] = [];
  const own: RecordHold = {
    isOwn: () => true,
    partDone: (part) => void parts.add(part),
    isPartDone: (part) => parts.has(part),
    keep: (content) => void kept.push(content),
  };
  return { own, parts, kept };
}

const bundleRecord = (ids: readonly string[], changes: Partial<Delivery> = {}): ReceivedRecord => {
  const [first, ...others] = ids.map((id) => deliveryTo(1, { id, ...changes }));
  return received(bundleOf([first as Delivery, ...others], 0), { topic: 'webhooks.deferred.5s' });
};
const bundle = (...of: Parameters<typeof bundleRecord>) => decoded(bundleRecord(...of));
const numbered = (count: number, name = '') => Array.from({ length: count }, (_, n) => `${name}${n}`);
const ids = () => handed.map(({ delivery }) => delivery.id);
const nextSlice = () => {
  for (const passed of slices.splice(0)) passed();
};
async function isDone(done: Promise<void>): Promise<boolean> {
  return Promise.race([done.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
}
const endAll = (error?: Error) => {
  for (const { end } of handed.splice(0)) end(error);
};

test('a bundle is done once each of its members is, as the delivery that it was', async () => {
  const original = deliveryTo(1, { id: 'a', attempts: 2, usedMs: 7 });
  const done = unpacking.unpack(decoded(received(bundleOf([original, deliveryTo(1, { id: 'b' })], 0))), hold().own);
  expect(handed.map(({ delivery }) => delivery)).toMatchObject([{ ...original, record: paymentRecord() }, { id: 'b' }]);
  handed[1]?.end();
  expect(await isDone(done)).toBe(false);
  handed[0]?.end();
  expect(await isDone(done)).toBe(true);
});

test('if one member has to come again, the record does, with that member alone', async () => {
  const { own } = hold();
  const { record } = bundle(['a', 'b', 'c']);
  const done = unpacking.unpack(decoded(record), own);
  const [a, b, c] = handed.splice(0);
  a?.end();
  b?.end(new Error('not now'));
  expect(await Promise.race([done, new Promise((resolve) => setImmediate(() => resolve('open')))])).toBe('open');
  c?.end();
  await expect(done).rejects.toThrow('not now');
  const again = unpacking.unpack(decoded(record), own);
  expect(ids()).toEqual(['b']);
  endAll();
  await again;
});

test('a slow attempt does not hold the memory of its bundle once most of its members are done', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const begun = () => {
    const large = bundle(numbered(PER_SLICE));
    const memory = new WeakRef((large.record.value as Buffer).buffer);
    const done = unpacking.unpack(large, hold().own);
    return { memory, done };
  };
  const { memory, done } = begun();
  const slow = handed.splice(-1);
  endAll();
  expect(await isDone(done)).toBe(false);
  collect();
  expect(memory.deref()).toBeUndefined();
  for (const { end } of slow) end();
  await done;
});

test('a bundle whose members were all done before is done', async () => {
  const { own } = hold();
  own.partDone(0);
  await unpacking.unpack(bundle(['a']), own);
  expect(handed).toEqual([]);
});

describe('a long backlog', () => {
  test('is handed over in slices, in its order over several bundles', () => {
    void unpacking.unpack(bundle(numbered(60, 'a')), hold().own);
    void unpacking.unpack(bundle(numbered(10, 'b')), hold().own);
    expect(ids()).toEqual(numbered(60, 'a').slice(0, PER_SLICE));
    nextSlice();
    expect(ids()).toEqual([...numbered(60, 'a'), ...numbered(10, 'b')]);
  });

  test('of one account delays no other: a member of each in turn', () => {
    for (const name of ['a', 'b', 'c']) void unpacking.unpack(bundle(numbered(500, name)), hold().own);
    void unpacking.unpack(bundle(['other'], { accountId: 43 }), hold().own);
    nextSlice();
    expect(ids().indexOf('other')).toBeLessThanOrEqual(PER_SLICE + 1);
  });

  test('is limited: its account has room for its share of the bundles that wait, and at least for one', () => {
    mayContinue = false;
    const value = Buffer.alloc(1024 * 1024);
    const waits = (accountId: number) => {
      const one = bundle(['a'], { accountId, record: paymentRecord({ value }) });
      const hasRoom = unpacking.hasRoom(one.record);
      if (hasRoom) void unpacking.unpack(one, hold().own);
      return hasRoom;
    };
    const attempts = Array.from({ length: 40 }, () => waits(42));
    expect(attempts.filter((hasRoom) => hasRoom)).toHaveLength(32);
    const others = Array.from({ length: 40 }, (_, n) => waits(1_000 + n));
    expect(others).not.toContain(false);
    expect(waits(1_000)).toBe(false);
  });

  test('waits while this process is the bottleneck', () => {
    mayContinue = false;
    void unpacking.unpack(bundle(['a']), hold().own);
    nextSlice();
    expect(handed).toEqual([]);
    mayContinue = true;
    nextSlice();
    expect(ids()).toEqual(['a']);
  });

  test('leaves no timer once it is unpacked', () => {
    void unpacking.unpack(bundle(['a']), hold().own);
    nextSlice();
    expect(slices).toEqual([]);
  });
});

describe('what is not ours', () => {
  test('a member is refused alone, and the others are delivered', async () => {
    const members = [toMember(deliveryTo(1, { id: 'a' })), paymentRecord()];
    const record = received(toBundle(endpointKey(42, 'https://a.example'), members, WAIT), { offset: 9 });
    const done = unpacking.unpack(decoded(record), hold().own);
    expect(refused).toMatchObject([{ ...paymentRecord(), offset: 9 }]);
    expect(ids()).toEqual(['a']);
    endAll();
    await done;
  });
});

test('the time that a bundle waited as it was passed on counts for each of its members', () => {
  const record = bundleRecord(['a'], { usedMs: 7 });
  void unpacking.unpack(decoded({ ...record, ...withWait(record, { ...WAIT, addedMs: 5_000 }) }), hold().own);
  expect(handed).toMatchObject([{ delivery: { usedMs: 5_007 } }]);
});

test('in memory a bundle is what is left of it, whenever half of it is done', async () => {
  const { own, kept } = hold();
  // Larger than what Node gives out of shared memory.
  const record = bundleRecord(numbered(8), { record: paymentRecord({ value: Buffer.alloc(10_000) }) });
  const done = unpacking.unpack(decoded(record), own);
  for (const { end } of handed.splice(0, 7)) {
    end();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(kept.map((content) => deliveriesIn(content).map(({ id }) => id))).toEqual([
    ['4', '5', '6', '7'],
    ['6', '7'],
    ['7'],
  ]);
  expect(membersOf(kept.at(-1) ?? record)).toHaveLength(8);
  expect(kept.at(-1)?.value?.length).toBeLessThan((record.value?.length ?? 0) / 6);
  // Its memory is not that of the record.
  expect(handed[0]?.delivery.record.value?.buffer).not.toBe(record.value?.buffer);
  endAll();
  await done;
});

describe('where the process is the bottleneck', () => {
  const bundleOfAccount = (accountId: number) =>
    decoded(received(bundleOf([deliveryTo(1, { id: 'a', accountId })], 0), { topic: 'webhooks.deferred.5s' }));
  beforeEach(() => {
    mayContinue = false;
  });

  test('it is full with 2,048 bundles of many accounts: the others stay in their topics', () => {
    for (let n = 0; n < 2_048; n += 1) {
      expect(unpacking.isFull).toBe(false);
      void unpacking.unpack(bundleOfAccount(1 + (n % 128)), hold().own);
    }
    expect(unpacking.isFull).toBe(true);
    mayContinue = true;
    void unpacking.unpack(bundleOfAccount(1), hold().own);
    expect(unpacking.isFull).toBe(false);
  });

  test('no account fills it alone, or its backlog would hold up the retries of all others', () => {
    for (let n = 0; n < 5_000; n += 1) void unpacking.unpack(bundleOfAccount(1), hold().own);
    expect(unpacking.isFull).toBe(false);
    for (let id = 2; id <= 128; id += 1) {
      for (let n = 0; n < 16; n += 1) void unpacking.unpack(bundleOfAccount(id), hold().own);
    }
    expect(unpacking.isFull).toBe(true);
    mayContinue = true;
    void unpacking.unpack(bundleOfAccount(200), hold().own);
    for (let slice = 0; slice < 400; slice += 1) nextSlice();
    expect(handed).toHaveLength(5_000 + 127 * 16 + 1);
    expect(unpacking.isFull).toBe(false);
  });
});

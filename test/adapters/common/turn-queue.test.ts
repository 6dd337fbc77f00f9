import fc from 'fast-check';
import { TurnQueue } from '../../../src/adapters/common/turn-queue.js';
import { growthOf } from '../../support/oracles/growth.js';
import { MAX_GROWTH } from '../../support/oracles/linear-time.js';

interface Item {
  readonly turn: string;
  readonly n: number;
}

/** 'aab' are items of a, a and b. */
function queueOf(turns: string, quantum = 1): TurnQueue<Item> {
  const queue = new TurnQueue<Item>({ now: () => 0, quantum });
  for (const [n, turn] of [...turns].entries()) queue.add({ turn, n });
  return queue;
}

function takeAll(queue: TurnQueue<Item>): string {
  let taken = '';
  for (let item = queue.take(); item; item = queue.take()) taken += item.turn;
  return taken;
}

function takeAllKeys(queue: TurnQueue<Item>): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item; item = queue.take()) taken.push(item.turn);
  return taken;
}

test.each([
  ['one key: in order', 'aaa', 1, 'aaa'],
  ['a key with one item is behind two of a key that came first', 'aaaaab', 1, 'aabaaa'],
  ['keys take turns', 'aaabbbccc', 1, 'aabacbcbc'],
  ['first one item each, then two', 'aaaaaabbbbbb', 2, 'abaabbaabbab'],
  ['as many as a key has, if it has fewer', 'abcaaa', 3, 'abcaaa'],
])('%s', (_, added, quantum, taken) => {
  const queue = queueOf(added, quantum);
  expect(takeAll(queue).split('').sort()).toEqual([...added].sort());
  expect(takeAll(queueOf(added, quantum))).toBe(taken);
});

test('a turn has a dozen items, if nothing else is said', () => {
  const queue = new TurnQueue<Item>({ now: () => 0 });
  for (const [n, turn] of [...'a'.repeat(25), ...'b'.repeat(25)].entries()) queue.add({ turn, n });
  const dozen = (key: string) => key.repeat(12);
  expect(takeAll(queue)).toBe(`ab${dozen('a')}${dozen('b')}${dozen('a')}${dozen('b')}`);
});

test('a key that comes with one item, beside a burst of 2,000 others, waits for two of each', () => {
  const queue = new TurnQueue<Item>({ now: () => 0 });
  for (let n = 0; n < 24_000; n += 1) queue.add({ turn: `${n % 2_000}`, n });
  queue.add({ turn: 'seldom', n: 0 });
  const taken = takeAllKeys(queue);
  expect(taken.indexOf('seldom')).toBeLessThanOrEqual(4_012);
});

test.each([1, 12])('a new key is behind at most a turn of the others, of %i', (quantum) => {
  const queue = queueOf('abcdefgh'.repeat(30), quantum);
  for (let n = 0; n < 20; n += 1) queue.take();
  queue.add({ turn: 'z', n: 0 });
  expect(Array.from({ length: quantum + 1 }, () => queue.take()?.turn)).toContain('z');
});

test('keys that come again and again with one item do not keep others waiting', () => {
  const queue = queueOf('aaaaa');
  let taken = '';
  for (let n = 0; n < 10; n += 1) {
    queue.add({ turn: `${n}`, n });
    taken += queue.take()?.turn ?? '';
  }
  expect(taken.match(/a/g)?.length).toBeGreaterThanOrEqual(4);
});

describe('a key within its usual rate', () => {
  const BURST_AT_MS = 20_000;
  const [TAKEN_PER_SECOND, STEADY_PER_SECOND] = [700, 20];
  type Timed = Item & { readonly at: number };

  /** A ms of virtual time. @returns when an item of the burst was taken last; how long those of the steady key waited */
  function play(keys: number, each: number) {
    let now = 0;
    const queue = new TurnQueue<Timed>({ now: () => now });
    const taken: (Timed & { readonly takenAt: number })[] = [];
    const burst = Array.from({ length: keys * each }, (_, n) => ({ turn: `${n % keys}`, n, at: BURST_AT_MS }));
    const added = (at: number) => (at % 50 === 0 ? [{ turn: 'steady', n: at, at }] : []);
    for (; now < 60_000; now += 1) {
      for (const item of [...added(now), ...(now === BURST_AT_MS ? burst : [])]) queue.add(item);
      const item = now % 10 < 7 ? queue.take() : undefined;
      if (item) taken.push({ ...item, takenAt: now });
    }
    const steady = taken.filter(({ turn }) => turn === 'steady').map(({ at, takenAt }) => takenAt - at);
    const others = taken.filter(({ turn }) => turn !== 'steady').map(({ takenAt }) => takenAt - BURST_AT_MS);
    return { longest: Math.max(...steady), tookMs: Math.max(...others) };
  }

  test.each([
    [2_000, 12],
    [20, 1_200],
  ])('does not wait for a burst of %i others with %i each, which goes on', (keys, each) => {
    const { longest, tookMs } = play(keys, each);
    expect(longest).toBeLessThan(50);
    expect(tookMs).toBeLessThan((1.02 * 1_000 * keys * each) / (TAKEN_PER_SECOND - STEADY_PER_SECOND));
  });

  test('has no rate of its burst: what came behind a dozen of its key does not count', () => {
    let now = 0;
    const queue = new TurnQueue<Item>({ now: () => now });
    for (let n = 0; n < 1_000; n += 1) queue.add({ turn: 'burst', n });
    for (; now < 500; now += 1) queue.take();
    now += 300;
    queue.add({ turn: 'burst', n: 1_000 });
    let usual = 0;
    while (queue.take(true)) usual += 1;
    expect(usual).toBeLessThanOrEqual(3);
  });

  test('leaves every second turn to the others, however many have a usual rate', () => {
    let now = 0;
    const queue = new TurnQueue<Item>({ now: () => now });
    for (; now < 10_000; now += 10) {
      queue.add({ turn: `steady-${now % 100}`, n: now });
      queue.take();
    }
    for (let n = 0; n < 40; n += 1) queue.add({ turn: `steady-${(n % 10) * 10}`, n });
    for (let n = 0; n < 40; n += 1) queue.add({ turn: 'burst', n });
    const taken = Array.from({ length: 40 }, () => queue.take()?.turn);
    expect(taken.filter((turn) => turn === 'burst')).toHaveLength(20);
  });
});

test('the span counts what was taken before the oldest that waits, until that is taken', () => {
  const queue = queueOf('aaab');
  const spans = [queue.span];
  for (let n = 0; n < 4; n += 1) {
    queue.take();
    spans.push(queue.span);
  }
  expect(spans).toEqual([4, 3, 2, 2, 0]);
});

test('the oldest is what has waited longest, whatever was taken before it', () => {
  const queue = queueOf('aaab');
  const seen = [queue.oldest?.n];
  for (let n = 0; n < 4; n += 1) {
    queue.take();
    seen.push(queue.oldest?.n);
  }
  expect(seen).toEqual([0, 1, 2, 2, undefined]);
});

test('whatever is added and taken: each item is taken once, and those of a key in their order', () => {
  const step = fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant('take'));
  const holds = fc.property(fc.array(step, { maxLength: 300 }), fc.integer({ min: 1, max: 4 }), (steps, quantum) => {
    let now = 0;
    const queue = new TurnQueue<Item>({ now: () => now, quantum });
    const waiting = new Map<string, number[]>();
    const take = () => {
      const [head, taken] = [queue.head(), queue.take()];
      expect(taken).toBe(head);
      if (taken) expect(waiting.get(taken.turn)?.shift()).toBe(taken.n);
      return taken;
    };
    for (const [n, one] of steps.entries()) {
      now += n % 7 === 0 ? 400 : 0;
      if (one === 'take') take();
      else {
        queue.add({ turn: one, n });
        waiting.set(one, [...(waiting.get(one) ?? []), n]);
      }
      const left = [...waiting.values()].flat();
      expect([queue.length, queue.oldest?.n]).toEqual([left.length, left.length > 0 ? Math.min(...left) : undefined]);
    }
    while (take());
    expect([...waiting.values()].flat()).toEqual([]);
  });
  fc.assert(holds);
});

test.each([
  ['of 1,000 keys', 1_000],
  ['each of a key of its own', Number.POSITIVE_INFINITY],
])('twice the items, %s, take at most three times as long', async (_, keys) => {
  const keysOf = (count: number) => Array.from({ length: count }, (__, n) => ({ turn: `${n % keys}`, n }));
  const run = (items: readonly Item[]) => {
    const queue = new TurnQueue<Item>({ now: () => 0 });
    for (const item of items) queue.add(item);
    takeAll(queue);
  };
  expect(await growthOf(keysOf, run, { maxLength: 65_536, most: MAX_GROWTH })).toBeLessThanOrEqual(MAX_GROWTH);
});

import fc from 'fast-check';
import { TurnQueue } from '../../../src/adapters/common/turn-queue.js';
import { growthOf } from '../../support/oracles/growth.js';
import { MAX_GROWTH } from '../../support/oracles/linear-time.js';

interface Item {
  readonly turn: string;
  readonly n: number;
}

/** 'aab' are items of a, a and b. */
function queueOf(turns: string): TurnQueue<Item> {
  const queue = new TurnQueue<Item>();
  for (const [n, turn] of [...turns].entries()) queue.add({ turn, n });
  return queue;
}

function takeAll(queue: TurnQueue<Item>): string {
  let taken = '';
  for (let item = queue.take(); item; item = queue.take()) taken += item.turn;
  return taken;
}

test.each([
  ['one key: in order', 'aaa', 'aaa'],
  ['a key with one item is behind two of a key that came first', 'aaaaab', 'aabaaa'],
  ['keys take turns', 'aaabbbccc', 'aabacbcbc'],
])('%s', (_, added, taken) => {
  const queue = queueOf(added);
  expect(takeAll(queue).split('').sort().join('')).toBe(added);
  expect(takeAll(queueOf(added))).toBe(taken);
});

test('a new key is behind at most one item of the others, however many keys have some', () => {
  const queue = queueOf('abcdefgh'.repeat(10));
  for (let n = 0; n < 20; n += 1) queue.take();
  queue.add({ turn: 'z', n: 0 });
  expect([queue.take()?.turn, queue.take()?.turn]).toContain('z');
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
  const holds = fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
    const queue = new TurnQueue<Item>();
    const waiting = new Map<string, number[]>();
    const take = () => {
      const [head, taken] = [queue.head, queue.take()];
      expect(taken).toBe(head);
      if (taken) expect(waiting.get(taken.turn)?.shift()).toBe(taken.n);
      return taken;
    };
    for (const [n, one] of steps.entries()) {
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

test('twice the items take at most three times as long', async () => {
  const keysOf = (count: number) => Array.from({ length: count }, (_, n) => ({ turn: `${n % 1_000}`, n }));
  const run = (items: readonly Item[]) => {
    const queue = new TurnQueue<Item>();
    for (const item of items) queue.add(item);
    takeAll(queue);
  };
  expect(await growthOf(keysOf, run, { maxLength: 65_536, most: MAX_GROWTH })).toBeLessThanOrEqual(MAX_GROWTH);
});

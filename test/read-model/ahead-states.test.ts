import { expect, test } from '@jest/globals';
import { AheadStates, ReadModelBehind } from '../../src/read-model/ahead-states.js';

const folded = (revision: number, state: unknown = {}) => ({ state, revision, eventId: `event ${revision}` });
const webhook = { id: 7, url: 'https://shop.example.com/a', createdAt: '2026-11-21T09:00:00.000Z' };
const use = (key: string) => ({ key, request: 'fingerprint', at: 0, eventType: 'WebhookAdded', webhook });

test('a state and its keys stay until the read model has reached its revision', () => {
  const ahead = new AheadStates(() => 0);
  ahead.put('a', folded(4), [use('k')], true);
  expect(ahead.reached('a', folded(3))).toBeNull();
  expect([ahead.current('a'), ahead.key('a', 'k')]).toEqual([folded(4), use('k')]);
  expect(ahead.reached('a', folded(4))).toBe(0);
  expect([ahead.current('a'), ahead.key('a', 'k'), ahead.size]).toEqual([undefined, undefined, 0]);
});

test('a state that the read model passed without showing it stays, and is asked for', () => {
  let now = 100;
  const ahead = new AheadStates(() => now);
  ahead.put('a', folded(4), [], true);
  now = 200;
  ahead.put('b', folded(1), [], false);
  expect([ahead.reached('a', { eventId: 'another event 4' }), ahead.reached('a', folded(5))]).toEqual([null, null]);
  expect([100, 101, 201].map((time) => ahead.storedBefore(time).map(([stream]) => stream))).toEqual([
    [],
    ['a'],
    ['a', 'b'],
  ]);
  ahead.drop('a');
  expect(ahead.storedBefore(201)).toEqual([['b', folded(1)]]);
});

test('an older state changes nothing; a newer one keeps the keys before it', () => {
  const ahead = new AheadStates(() => 0);
  ahead.put('a', folded(4), [use('k')], true);
  ahead.put('a', folded(3), [use('older')], true);
  ahead.put('a', folded(6), [use('l')], false);
  expect(ahead.current('a')).toEqual(folded(6));
  expect(['k', 'older', 'l'].map((key) => ahead.key('a', key)?.key)).toEqual(['k', undefined, 'l']);
});

test('tells how long an own append was ahead, and nothing of a state that was only read', () => {
  let now = 100;
  const ahead = new AheadStates(() => now);
  ahead.put('own', folded(1), [], true);
  ahead.put('read', folded(1), [], false);
  now = 130;
  expect([ahead.reached('own', folded(1)), ahead.reached('read', folded(1))]).toEqual([30, null]);
});

test('keys count as well, and thousands of one account cost no more each than the first', () => {
  const ahead = new AheadStates(() => 0);
  const begun = performance.now();
  let count = 0;
  const mayTake = () => {
    try {
      ahead.mustTakeMore();
      return true;
    } catch {
      return false;
    }
  };
  for (; mayTake() && count < 500_000; count += 1) ahead.put('a', folded(count), [use(`k ${count}`)], true);
  expect(count).toBeLessThan(300_000);
  expect(ahead.key('a', 'k 0')).toBeDefined();
  // Copied for each, 10,000 of them took 5 s.
  expect(performance.now() - begun).toBeLessThan(30_000);
  ahead.drop('a');
  expect(mayTake()).toBe(true);
});

test.each([
  ['streams', { streams: 2, characters: 1_000 }, {}],
  ['characters', { streams: 1_000, characters: 40 }, { text: 'x'.repeat(20) }],
])('takes no more commands where too many %s are ahead, until the read model has come closer', (_, limits, state) => {
  const ahead = new AheadStates(() => 0, limits);
  ahead.put('a', folded(0, state), [], true);
  expect(() => ahead.mustTakeMore()).not.toThrow();
  ahead.put('b', folded(0, state), [], true);
  expect(() => ahead.mustTakeMore()).toThrow(ReadModelBehind);
  ahead.reached('a', folded(0));
  expect(() => ahead.mustTakeMore()).not.toThrow();
});

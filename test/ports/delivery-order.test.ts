import fc from 'fast-check';
import {
  type DeliveryFold,
  type DeliveryStatus,
  OUTCOMES,
  type Outcome,
  outranks,
  statusOf,
  withStatus,
} from '../../src/ports/delivery-order.js';

const status = (outcome: Outcome, chain: number, attempts = 0, at = 0, nextAttemptAt: string | null = null) => ({
  outcome,
  chain,
  attempts,
  at,
  nextAttemptAt,
});
const folded = (all: readonly DeliveryStatus[]) =>
  all.reduce<DeliveryFold | undefined>(withStatus, undefined) as DeliveryFold;

describe('of two entries of a delivery', () => {
  test.each<readonly [string, DeliveryStatus, DeliveryStatus]>([
    ['delivered, whatever came after it', status('delivered', 0, 1), status('exhausted', 4, 1, 9)],
    ['the later chain, whatever clocks say', status('retrying', 2, 0, 1), status('exhausted', 1, 9, 2)],
    ['of one chain more attempts', status('retrying', 2, 2, 1), status('exhausted', 2, 1, 2)],
    ['after as many attempts the end', status('exhausted', 3, 1, 1), status('retrying', 3, 1, 2)],
    ['of two ends the given-up one', status('exhausted', 3, 1, 1), status('cancelled', 3, 1, 2)],
    ['of two waits the later', status('retrying', 2, 1, 5), status('retrying', 2, 1, 4)],
    ['of one ms the later next attempt', status('retrying', 2, 1, 5, '2026'), status('retrying', 2, 1, 5, '2025')],
  ])('%s decides', (_, one, other) => {
    expect([outranks(one, other), outranks(other, one)]).toEqual([true, false]);
  });
});

describe('a delivery', () => {
  test.each<readonly [string, readonly DeliveryStatus[], DeliveryStatus]>([
    ['waits once it was requested', [status('exhausted', 0, 3), status('retrying', 5)], status('retrying', 5)],
    [
      'is given up again where its request was cancelled',
      [status('exhausted', 0, 3), status('cancelled', 5)],
      status('exhausted', 0, 3),
    ],
    [
      'is given up by its last chain, whatever was cancelled since',
      [status('exhausted', 0, 3), status('exhausted', 5, 1), status('retrying', 8), status('cancelled', 9)],
      status('exhausted', 5, 1),
    ],
    [
      'is cancelled where nothing was given up',
      [status('retrying', 0, 1), status('cancelled', 5)],
      status('cancelled', 5),
    ],
    [
      'stays delivered',
      [status('delivered', 0, 1), status('retrying', 5), status('cancelled', 6)],
      status('delivered', 0, 1),
    ],
  ])('%s', (_, entries, expected) => {
    expect(statusOf(folded(entries))).toEqual(expected);
  });
});

test('in whatever order entries come, and however often, the fold is the same', () => {
  const anyStatus = fc.record({
    outcome: fc.constantFrom(...OUTCOMES),
    chain: fc.nat(2),
    attempts: fc.nat(2),
    at: fc.nat(2),
    nextAttemptAt: fc.constantFrom(null, 'a', 'b'),
    waitingFor: fc.constantFrom(undefined, 'queue', 'endpoint-failing'),
  });
  const history = fc.array(anyStatus, { minLength: 1, maxLength: 8 });
  const shuffled = history.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: 2 * all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([all, again]) => {
      expect(folded(again)).toEqual(folded(all));
    }),
    { numRuns: 1_000 },
  );
});

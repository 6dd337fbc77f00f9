import fc from 'fast-check';
import { OUTCOMES, type Outcome, outranks, type Said } from '../../src/ports/delivery-order.js';

const said = (outcome: Outcome, turn: number, at = 0, nextAttemptAt: string | null = null): Said => ({
  outcome,
  turn,
  at,
  nextAttemptAt,
});
const decisive = (all: readonly Said[]) => all.reduce((best, one) => (outranks(one, best) ? one : best));

describe('of two entries of a delivery', () => {
  test.each<readonly [string, Said, Said]>([
    ['delivered, whatever was said after it', said('delivered', 1), said('exhausted', 4, 9)],
    ['the higher turn, whatever clocks say', said('retrying', 2, 1), said('exhausted', 1, 2)],
    ['of one turn the end', said('exhausted', 3, 1), said('retrying', 3, 2)],
    ['a replay, which is a turn more than the end', said('retrying', 4, 1), said('exhausted', 3, 2)],
    ['cancelled in its tier: no attempt was made, so it is the same turn', said('cancelled', 2), said('retrying', 2)],
    ['of two waits of one turn the later', said('retrying', 2, 5), said('retrying', 2, 4)],
    ['of one ms the later next attempt', said('retrying', 2, 5, '2026'), said('retrying', 2, 5, '2025')],
    ['of two ends of one turn the later', said('exhausted', 3, 2), said('cancelled', 3, 1)],
  ])('%s decides', (_, one, other) => {
    expect([outranks(one, other), outranks(other, one)]).toEqual([true, false]);
  });
});

test('the order is total: in whatever order entries come, and however often, one and the same decides', () => {
  const anySaid = fc.record({
    outcome: fc.constantFrom(...OUTCOMES),
    turn: fc.nat(3),
    at: fc.nat(2),
    nextAttemptAt: fc.constantFrom(null, 'a', 'b'),
  });
  const history = fc.array(anySaid, { minLength: 1, maxLength: 8 });
  const shuffled = history.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: 2 * all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([all, again]) => {
      expect(decisive(again)).toEqual(decisive(all));
    }),
    { numRuns: 1_000 },
  );
});

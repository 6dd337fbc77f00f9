import fc from 'fast-check';
import { type Delay, delayOf } from '../../../src/delivery/retry/retry-schedule.js';
import { waitFor } from '../../../src/delivery/retry/waiting.js';
import { topicsOf } from '../../../src/delivery/topics.js';

const NOW = 1_000_000;
const HOUR = 3_600_000;

function tiersOf(...texts: string[]) {
  const { retry, deferred } = topicsOf(['payment-events'], '').tiers(texts.map((text) => delayOf(text) as Delay));
  return [...retry, ...deferred];
}
const TIERS = tiersOf('5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h');

test.each([
  ['its delay', 5_000, '5s', 5_000, 0],
  ['with jitter', 5_500, '5s', 5_500, 0],
  ['more than that', 5_501, '5s', 5_000, 501],
  ['one that no other has', 80_000, 'deferred.80s', 80_000, 0],
  ['less than any', 10, '5s', 10, 0],
  ['5 min 59 s', 359_000, '5m', 300_000, 59_000],
])('a wait: %s', (_, ms, text, dueMs, moreMs) => {
  expect(waitFor(TIERS, ms, NOW)).toMatchObject({ tier: { text }, due: NOW + dueMs, moreMs });
});

test('a tier of milliseconds has its own waits, and passes none on', () => {
  const tiers = tiersOf('50ms');
  expect(waitFor(tiers, 52, NOW)).toMatchObject({ tier: { text: '50ms' }, due: NOW + 52 });
  expect(waitFor(tiers, 4_000, NOW)).toMatchObject({ tier: { text: 'deferred.5s' }, due: NOW + 4_000, moreMs: 0 });
});

test('whatever is before it in each tier, a wait ends within a tenth and 5 s, and not before', () => {
  const late = fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 24 * HOUR }), late, (ms, lates) => {
      let now = NOW;
      for (let [left, hops] = [ms, 0]; left > 0; hops += 1) {
        const { tier, due } = waitFor(TIERS, left, now);
        // One before it was published at the same time, and waits for the whole of its jitter.
        const share = lates.next().value as number;
        now = Math.max(due, now + tier.ms * 1.1 * share);
        left = NOW + ms - now;
        expect(hops).toBeLessThan(40);
      }
      expect(now - NOW).toBeGreaterThanOrEqual(ms);
      expect(now - NOW).toBeLessThanOrEqual(ms * 1.1 + 5_500);
    }),
  );
});

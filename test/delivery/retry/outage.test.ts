/** What an outage costs, and when its deliveries return: real deliveries to one URL, in virtual time. */
import { inFull } from '../../runner/thorough.js';
import { BundledWorld } from '../../support/scenes/bundled-world.js';

const SECOND = 1_000;
const MS = 10;
/** By a window of 16. */
const PER_SECOND = (16 * SECOND) / MS;
const FROM = 2 * SECOND;

/** An outage, and what follows. @returns times in ms */
async function played(outageMs: number, perSecond: number) {
  const until = FROM + outageMs;
  const world = new BundledWorld(MS, (now) => now < FROM || now >= until);
  await world.pass(until, perSecond);
  const { length: before } = world.deliveredAt;
  const waiting = world.published - before;
  await world.pass(outageMs / 10 + 10 * SECOND);
  const [firstAt = Number.NaN] = world.deliveredAt.slice(before);
  return {
    waiting,
    lastMs: Math.max(...world.deliveredAt) - firstAt,
    needsMs: (waiting * SECOND) / PER_SECOND,
    recordsEach: world.broker.written / waiting,
    /** Attempts that failed during the outage have their schedule. */
    undelivered: world.published - world.deliveredAt.length,
  };
}

test.each(inFull([60, 180], [60]))('after an outage of %d s all deliveries return in time', async (seconds) => {
  const { waiting, lastMs, needsMs, recordsEach, undelivered } = await played(seconds * SECOND, 30);
  expect(waiting).toBeGreaterThan(29 * seconds);
  expect(lastMs).toBeLessThanOrEqual(Math.max(seconds * 100, 6 * SECOND, 1.2 * needsMs));
  expect(undelivered).toBeLessThan(20);
  expect(recordsEach).toBeLessThan(1.1);
});

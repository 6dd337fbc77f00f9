/** Deliveries that reach the end of their lifetime behind others of their URL: real deliveries to one URL, in virtual time. */
import { lifetimeMs } from '../../../src/delivery/retry/retry-schedule.js';
import { BundledWorld } from '../../support/scenes/bundled-world.js';

const SECOND = 1_000;
const schedule = [
  { text: '2s', ms: 2 * SECOND },
  { text: '4s', ms: 4 * SECOND },
];
const timeoutMs = 2 * SECOND;
const LIFETIME_MS = lifetimeMs(schedule, timeoutMs);
/** By a window of 16. */
const PER_SECOND = 16;

test.each([500, 3_000])('%d deliveries to a URL of 1 s all get their first attempt', async (count) => {
  const world = new BundledWorld(SECOND, () => true, { schedule, timeoutMs });
  const needsMs = (count * SECOND) / PER_SECOND;
  expect(needsMs).toBeGreaterThan(2 * LIFETIME_MS);
  world.publish(count);
  await world.pass(1.2 * needsMs);
  expect(world.broker.deadLetters).toBe(0);
  expect(world.deliveredAt).toHaveLength(count);
});

/** A scheduler whose clock stands still until the test advances it: no attempt is slow, nothing is queued for long. */
import { DeliveryScheduler, type SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { VirtualClock } from './virtual-clock.js';

/** A failure on probation holds its slot for as long as the clock stands still: so many tests can have. */
const SLOTS = 16_384;
const NEVER_OPEN: SchedulerParts['breakers'] = {
  ask: () => true,
  ended: () => null,
  openForMs: () => 0,
  open: 0,
};

export function testScheduler(parts: Partial<SchedulerParts> = {}): DeliveryScheduler {
  const clock = new VirtualClock();
  return new DeliveryScheduler({
    ...{ slots: SLOTS, perEndpoint: 1, breakers: NEVER_OPEN, clock, busyMs: () => 0, idleTo: () => 0 },
    ...parts,
  });
}

/** Long synchronous work in slices, between which the event loop serves others. */
import { setImmediate as nextTick } from 'node:timers/promises';

/** Well under what a liveness probe or another account notices. */
const SLICE_MS = 5;

/**
 * Visits all values in their order. The iterator itself should do little per value.
 * @param visit false ends the work
 * @param now ms, monotonic
 */
export async function forEachInSlices<T>(
  values: Iterable<T>,
  visit: (value: T) => unknown,
  now: () => number = () => performance.now(),
): Promise<void> {
  let until = now() + SLICE_MS;
  for (const value of values) {
    if (visit(value) === false) return;
    if (now() < until) continue;
    await nextTick();
    until = now() + SLICE_MS;
  }
}

/** Whether the event loop has hardly any time left: by node:perf_hooks' utilization since the last look. */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';

const WINDOW_MS = 20;
const BUSY = 0.95;

/**
 * Looks when it is asked, once in WINDOW_MS at most. Asked for the first time in a while it says how that while was, so a
 * beginning is noticed a window later.
 */
export function createBusyLoop(): () => boolean {
  let since: EventLoopUtilization = performance.eventLoopUtilization();
  let at = performance.now();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now - at < WINDOW_MS) return isBusy;
    at = now;
    const until = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(until, since).utilization >= BUSY;
    since = until;
    return isBusy;
  };
}

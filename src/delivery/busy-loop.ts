/** Whether the event loop has hardly any time left: by node:perf_hooks' utilization, over the last WINDOW_MS. */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';

const WINDOW_MS = 20;
const BUSY = 0.95;

/** Looks when it is asked; what it says is at most WINDOW_MS old where it is asked all the time. */
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

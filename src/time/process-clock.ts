import { beginDeadline, type DeadlineClock } from './deadlines.js';

/** ms in which this process ran. */
export interface ProcessClock extends DeadlineClock {
  readonly close: () => void;
}

const BEAT_MS = 100;
const LONGEST_BEAT_MS = 2 * BEAT_MS;

/**
 * Where this process stood still (a virtual machine that was moved, a long turn of the event loop), this clock did too.
 * Else every endpoint would seem slow that answered meanwhile, and what waits for it would be deferred.
 */
export function createProcessClock(steady: () => number = () => performance.now()): ProcessClock {
  let [beatAt, ranMs] = [steady(), 0];
  const now = () => {
    const at = steady();
    ranMs += Math.min(at - beatAt, LONGEST_BEAT_MS);
    beatAt = at;
    return ranMs;
  };
  const beats = setInterval(now, BEAT_MS).unref();
  return { now, after: beginDeadline, close: () => clearInterval(beats) };
}

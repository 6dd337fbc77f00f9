import { availableParallelism, loadavg } from 'node:os';

const MOST_PATIENCE = 12;

/** @returns {number} the factor by which everything is slower now: runnable processes per core. 1 on a quiet machine. */
export function patience() {
  const [load = 0] = loadavg();
  return Math.min(MOST_PATIENCE, Math.max(1, load / availableParallelism()));
}

/** Load per core; a whole run of the tests has 2 to 4. */
const STARVED = 5;

/** @returns {boolean} whether this machine may itself hold a process up for seconds: not the time to count what that costs. */
export function isStarved() {
  return patience() > STARVED;
}

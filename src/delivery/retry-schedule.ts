/**
 * When a delivery is tried again. A delivery stands at a step of the schedule: the delay its next failure waits for.
 * Attempts = 1 + delays, fewer where a Retry-After skipped some.
 */
export interface Delay {
  /** As the setting has it, 5s or 30m: part of the tier's topic name. */
  readonly text: string;
  readonly ms: number;
}

const JITTER = 0.1;

/**
 * The step whose tier a failed delivery waits in; null where none is left. With a Retry-After it is the first from the
 * current one on that covers it, else the last.
 */
export function stepAfterFailure(schedule: readonly Delay[], step: number, retryAfterMs: number | null): number | null {
  if (step >= schedule.length) return null;
  if (retryAfterMs === null) return step;
  const covering = schedule.findIndex(({ ms }, index) => index >= step && ms >= retryAfterMs);
  return covering === -1 ? schedule.length - 1 : covering;
}

/** ms since the epoch: the delay, and up to a tenth of it more, so that what failed together is not tried together. */
export function dueAt(delay: Delay, now: number, random: () => number): number {
  return Math.floor(now + delay.ms * (1 + JITTER * random()));
}

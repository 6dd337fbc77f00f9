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

export function longestDelayMs(schedule: readonly Delay[]): number {
  return Math.max(...schedule.map(({ ms }) => ms));
}

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

/**
 * The tier a delivery is put off to, having been put off so often in a row before: the first, then the second, and so on,
 * the last at most. Hazard: a backlog that went round and round in a tier of seconds would keep the broker busy for nothing.
 */
export function tierOfPutOff(schedule: readonly Delay[], putOff: number): Delay | undefined {
  return schedule[Math.min(putOff, schedule.length - 1)];
}

/**
 * How long a delivery may take at the longest, from its routing or last replay: past it, it waits for no place any more.
 * The sum of the delays and what they may be later, and the time of every attempt. ms
 */
export function lifetimeMs(schedule: readonly Delay[], timeoutMs: number): number {
  const delays = schedule.reduce((sum, { ms }) => sum + ms, 0);
  return Math.ceil(delays * (1 + JITTER)) + (schedule.length + 1) * timeoutMs;
}

/**
 * How long a record waits in its tier at the longest, ms. One that says otherwise was written by a clock that was ahead,
 * or by somebody else, and would hold all those behind it. A little more than the delay: clocks of several machines
 * differ, and what is replayed is given two seconds in any tier.
 */
export function longestWaitMs({ ms }: Delay): number {
  return ms * (1 + JITTER) + 2_000;
}

/** ms since the epoch: the delay, and up to a tenth of it more, so that what failed together is not tried together. */
export function dueAt(delay: Delay, now: number, random: () => number): number {
  return Math.floor(now + delay.ms * (1 + JITTER * random()));
}

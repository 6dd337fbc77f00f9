/** When a delivery is retried: its step is the index of the delay that follows its next failure. */
export interface Delay {
  /** As in the setting, 5s or 30m: part of the tier's topic name. */
  readonly text: string;
  readonly ms: number;
}

const JITTER = 0.1;
export const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** From its text; null for any other text. */
export function delayOf(text: string): Delay | null {
  const [, count, unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? null : { text, ms: Number(count) * (UNIT_MS[unit] ?? 1) };
}

export function longestDelayMs(schedule: readonly Delay[]): number {
  return Math.max(...schedule.map(({ ms }) => ms));
}

/** In whose tier a failed delivery waits; null if none is left. With a Retry-After: the first from `step` on that covers it, or the last. */
export function stepAfterFailure(schedule: readonly Delay[], step: number, retryAfterMs: number | null): number | null {
  if (step >= schedule.length) return null;
  if (retryAfterMs === null) return step;
  const covering = schedule.findIndex(({ ms }, index) => index >= step && ms >= retryAfterMs);
  return covering === -1 ? schedule.length - 1 : covering;
}

/**
 * The tier of a delivery that was already parked so often in a row because its endpoint took nothing. Hazard: a backlog that
 * circles in a tier of seconds would keep the broker busy for nothing.
 */
export function tierOfParking(schedule: readonly Delay[], refusals: number): Delay | undefined {
  return schedule[Math.min(refusals, schedule.length - 1)];
}

/** From the beginning of its chain, ms, after which a delivery waits for no place: all delays, their jitter, and all attempts. */
export function lifetimeMs(schedule: readonly Delay[], timeoutMs: number): number {
  const delays = schedule.reduce((sum, { ms }) => sum + ms, 0);
  return Math.ceil(delays * (1 + JITTER)) + (schedule.length + 1) * timeoutMs;
}

/**
 * The longest time a record waits in its tier, ms: one that names a longer time (by a fast clock, or a foreign one) would hold
 * up all behind it. Slightly more than the delay: clocks of machines differ.
 */
export function longestWaitMs({ ms }: Delay): number {
  return ms * (1 + JITTER) + 2_000;
}

/** ms since the epoch: the delay plus up to a tenth of jitter, which spreads the retries of simultaneous failures. */
export function dueAt(delay: Delay, now: number, random: () => number): number {
  return Math.floor(now + delay.ms * (1 + JITTER * random()));
}

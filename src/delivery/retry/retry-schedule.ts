/** When a delivery is retried: its step is the index of the delay that follows its next failure. */
export interface Delay {
  /** As in the setting, 5s or 30m: part of the tier's topic name. */
  readonly text: string;
  readonly ms: number;
}

/** A topic in which deliveries wait for a delay. Its text tells it from all others: 5s of the schedule, deferred.5s. */
export interface Tier extends Delay {
  readonly topic: string;
}

const JITTER = 0.1;
export const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Of deferred deliveries, whatever the schedule says. Each is about twice the one before, so that what waits for an outage
 * returns only 10 to 20 times while the outage lasts as long again.
 */
export const DEFERRALS = [
  { text: '5s', ms: 5_000 },
  { text: '10s', ms: 10_000 },
  { text: '20s', ms: 20_000 },
  { text: '40s', ms: 40_000 },
  { text: '80s', ms: 80_000 },
  { text: '160s', ms: 160_000 },
  { text: '5m', ms: 300_000 },
  { text: '10m', ms: 600_000 },
  { text: '30m', ms: 1_800_000 },
] as const satisfies readonly Delay[];

/** From its text; null for any other text. */
export function delayOf(text: string): Delay | null {
  const [, count, unit = ''] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return count === undefined ? null : { text, ms: Number(count) * (UNIT_MS[unit] ?? 1) };
}

export const longestDelayMs = (schedule: readonly Delay[]) => Math.max(...schedule.map(({ ms }) => ms));
/** The longest time that a record stays in one of a process's tiers, ms. */
export const longestTierMs = (schedule: readonly Delay[]) => longestDelayMs([...schedule, ...DEFERRALS]);

/** A deferred delivery is back within a tenth of the time for which its URL was away, if that is 5 s at least. */
export function deferralFor(awayMs: number): Delay {
  return DEFERRALS.findLast(({ ms }) => ms <= awayMs / 10) ?? DEFERRALS[0];
}

/** From the beginning of its chain, ms, after which a delivery waits for no slot: all delays, their jitter, and all attempts. */
export function lifetimeMs(schedule: readonly Delay[], timeoutMs: number): number {
  const delays = schedule.reduce((sum, { ms }) => sum + ms, 0);
  return Math.ceil(delays * (1 + JITTER)) + (schedule.length + 1) * timeoutMs;
}

/**
 * The longest time a record waits in its tier, ms: one that names a longer time (by a fast clock, or a foreign one) would hold
 * up all behind it. Slightly more than the delay: clocks of machines differ.
 */
export const longestWaitMs = (delay: Delay) => longestMs(delay) + 2_000;
/** The delay plus up to a tenth of jitter, which spreads the retries of simultaneous failures, ms. */
export const jittered = ({ ms }: Delay, random: () => number) => Math.floor(ms * (1 + JITTER * random()));

/** With all of its jitter. */
export const longestMs = ({ ms }: Delay) => ms + ms * JITTER;

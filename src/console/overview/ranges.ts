import type { Stats, StatsBucket } from '../api/shapes.js';

/** The periods that the Overview shows, and those of the Deliveries screen that are as long. */
export const RANGES = {
  '1h': { period: 'hour', step: '1m', stepMs: 60_000, steps: 60 },
  '24h': { period: 'day', step: '1h', stepMs: 3_600_000, steps: 24 },
  '7d': { period: 'week', step: '1h', stepMs: 3_600_000, steps: 168 },
} as const;

export type Range = keyof typeof RANGES;

export const rangeOf = (text: string | undefined): Range =>
  (Object.keys(RANGES) as Range[]).find((range) => range === text) ?? '24h';

/** Whole steps, the current one included. */
export function spanOf(range: Range, now: number): { from: string; to: string; times: Date[] } {
  const { stepMs, steps } = RANGES[range];
  const to = (Math.floor(now / stepMs) + 1) * stepMs;
  const times = Array.from({ length: steps }, (_, index) => new Date(to - (steps - index) * stepMs));
  return { from: new Date(to - steps * stepMs).toISOString(), to: new Date(to).toISOString(), times };
}

/** What each step counted; undefined: nothing. */
export function inSteps({ buckets }: Stats, times: readonly Date[]): readonly (StatsBucket | undefined)[] {
  const byTime = new Map(buckets.map((bucket) => [Date.parse(bucket.at), bucket]));
  return times.map((time) => byTime.get(time.getTime()));
}

/** Durations in buckets whose bounds grow by the square root of 2: a percentile is exact to some 20%. */

export const DURATION_BUCKETS = 36;

/** The first has all below 1 ms, the last all from 2 min on. */
export function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

/** @param counts by bucket @returns ms, between the bounds of its bucket by rank; null without any */
export function percentileOf(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return null;
  let rank = (total * percent) / 100;
  const bucket = counts.findIndex((count) => {
    if (count >= rank) return true;
    rank -= count;
    return false;
  });
  const within = rank / (counts[bucket] ?? 1);
  const ms = bucket === 0 ? within : 2 ** ((bucket - 1 + within) / 2);
  return Math.round(ms * 10) / 10;
}

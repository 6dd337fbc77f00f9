/** What is said of a few measurements. All of them give NaN for none. */

export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function summary(values: readonly number[]): Summary {
  return { median: percentile(values, 50), least: percentile(values, 0), most: percentile(values, 100) };
}

/** The nearest rank: a value that was measured; of an even number of values the lower middle one. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

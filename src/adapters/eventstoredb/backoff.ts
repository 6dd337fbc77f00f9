const FIRST_MS = 100;
const LONGEST_MS = 3_000;

/** Backoff after that many failures in a row: doubling, half of it random, which spreads many clients. */
export function backoff(failures: number, random: () => number): number {
  const most = Math.min(FIRST_MS * 2 ** Math.min(failures, 10), LONGEST_MS);
  return most / 2 + (most / 2) * random();
}

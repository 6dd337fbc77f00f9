/** How long and how large, by the environment: all of it small makes a try of a minute. */

/** Turns of each side; a row's figure is the median of them. */
export const ROUNDS = whole('BENCH_ROUNDS', 5);
/** Of one turn, after its warm-up. */
export const SECONDS = positive('BENCH_SECONDS', 10);
/** Before each turn: connections are made, the code is compiled. */
export const WARM_UP_SECONDS = Math.min(2, SECONDS / 2);
/** Names of rows with commas between; none is all of them. */
export const ONLY: readonly string[] = (process.env.BENCH_ONLY ?? '').split(',').filter(Boolean);
/** Of the history that a rebuild folds. */
export const REBUILD_EVENTS = whole('BENCH_EVENTS', 400_000);
/** In the rows that say so. */
export const WEBHOOKS = whole('BENCH_WEBHOOKS', 100_000);
/** In the deliveries view, and of an audit; `make test-nightly PART=large` has 10,000,000. */
export const DELIVERIES = whole('BENCH_DELIVERIES', 1_000_000);
/** In the topic of requests at a restart. */
export const RETAINED_REQUESTS = whole('BENCH_REQUESTS', 1_000_000);
/** In the read model at a restart. */
export const ACCOUNTS = whole('BENCH_ACCOUNTS', 1_000_000);
/** In the rows beside hostile accounts. */
export const HOSTILE_ACCOUNTS = whole('BENCH_HOSTILE_ACCOUNTS', 400);
/** Of an endpoint; `make test-nightly PART=outages` has 180. */
export const OUTAGE_SECONDS = whole('BENCH_OUTAGE_SECONDS', 60);
/** A row that misses its figure, or is not measured, fails the run. */
export const MUST_HOLD = process.env.BENCH_MUST_HOLD === '1';
/** The services under test write a V8 profile each when they stop: 1 is of their CPU, heap of what they allocate. */
export const PROFILE = process.env.BENCH_PROFILE ?? '';

function whole(name: string, preset: number): number {
  const value = Number(process.env[name] || preset);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`${name} must be a whole number from 1 on`);
}

function positive(name: string, preset: number): number {
  const value = Number(process.env[name] || preset);
  if (value > 0) return value;
  throw new Error(`${name} must be a number above 0`);
}

/** Keeps the heap of a service small for what it holds. The option of V8 for that costs throughput, so it is set only when needed. */
import { getHeapSpaceStatistics, type HeapSpaceInfo, setFlagsFromString } from 'node:v8';

/**
 * By default V8 collects the old generation once it has grown to up to four times the live data, and earlier only if
 * memory is short or the process idles; this limit also applies there. Measured with 100,000 webhooks and 3,000
 * deliveries a second, peak resident memory when all accounts had some: 377 MiB by default, 276 MiB with this limit;
 * the throughput is the same.
 */
const GARBAGE_PERCENT = 50;
/** Of the old generation: with GARBAGE_PERCENT, a compact one has less only right after a collection, two thirds. */
const USED = 0.7;
/** A smaller one may be fragmented. */
const LARGE_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 1_000;

/**
 * From now on, for the life of the process. While deliveries are kept for seconds, by default V8 compacts so little that half
 * of the old generation is free but unusable: 426 MiB resident beside 400 hostile accounts. Its option for small memory makes
 * it compact more (366 MiB), but also keeps the new generation small, which cost 12 to 32 % of the throughput. So it is set
 * only while the old generation is fragmented: 381 to 408 MiB, with the throughput as before.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
  const look = () => {
    const old = getHeapSpaceStatistics().find((space) => space.space_name === 'old_space');
    setFlagsFromString(old && isFragmented(old) ? '--optimize-for-size' : '--no-optimize-for-size');
  };
  setInterval(look, LOOK_EVERY_MS).unref();
}

/** Sizes in bytes. */
export function isFragmented(space: Pick<HeapSpaceInfo, 'physical_space_size' | 'space_used_size'>): boolean {
  const { physical_space_size: physical, space_used_size: used } = space;
  return physical > LARGE_BYTES && used < USED * physical;
}

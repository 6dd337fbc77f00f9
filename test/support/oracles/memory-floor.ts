/** Whether the memory of a process levels off, from samples taken at regular intervals under constant load. */

const MIB = 1024 * 1024;
/** Garbage collection and the allocator move the floor and the level. */
const NOISE_BYTES = 16 * MIB;
/** While the process compacts its heap, a sample of resident memory was 40 MiB below all others. */
const FLOOR = 0.1;
/** A growth that levels off at least halves from one third of the run to the next; a leak stays the same. */
const MAX_RATIO = 0.5;

export interface MemoryTrend {
  /** A tenth of each third's samples are below, bytes: what garbage collection does not free. A single sample does not move it. */
  readonly floors: readonly [number, number, number];
  /** Of the samples of the last third. */
  readonly level: number;
  /** Bytes in the last third: its length times the median slope between two of its samples. */
  readonly growth: number;
  readonly levelsOff: boolean;
}

/** @param samples bytes, at least three */
export function memoryTrend(samples: readonly number[]): MemoryTrend {
  const third = Math.floor(samples.length / 3);
  if (third === 0) throw new RangeError('too few samples');
  const floor = (part: number) => quantile(samples.slice(part * third, (part + 1) * third), FLOOR);
  const floors = [floor(0), floor(1), floor(2)] as const;
  const [before, after] = [floors[1] - floors[0], floors[2] - floors[1]];
  const last = samples.slice(2 * third);
  const growth = last.length * medianSlope(last);
  const levelsOff = after <= Math.max(NOISE_BYTES, MAX_RATIO * before) && growth <= NOISE_BYTES;
  return { floors, level: median(last), growth, levelsOff };
}

/** Of all pairs (Theil and Sen): a few peaks do not move it. */
function medianSlope(samples: readonly number[]): number {
  const slopes = samples.flatMap((value, at) =>
    samples.slice(at + 1).map((later, distance) => (later - value) / (distance + 1)),
  );
  return slopes.length > 0 ? median(slopes) : 0;
}

const median = (values: readonly number[]) => quantile(values, 0.5);

function quantile(values: readonly number[], below: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor(sorted.length * below)] ?? Number.NaN;
}

/** How the CPU time of a parser grows with the length of its input. */

/** A shorter run would mostly measure the clock and the engine. */
const MEASURABLE_MS = 8;
const RUNS = 4;
/** On a machine of load 20 the best of 3 rounds was 3.1 for a linear parser; a quadratic one takes 4 in each. */
const ROUNDS = 10;
const MIN_LENGTH = 4_096;

/**
 * How many times as long a parser takes for twice the input; 0 if even the longest takes too short to be measured. By CPU
 * time, so that other processes do not count: the least of several runs, and of several rounds while their growth is above `most`.
 * The mean of two doublings, because collecting the garbage of one may cost as much as parsing.
 * @param prepare makes the input of a length, which is not measured
 * @param parse may return a promise; what it leaves to threads is measured too
 */
export async function growthOf<T>(
  prepare: (length: number) => T,
  parse: (input: T) => unknown,
  { maxLength, most }: { readonly maxLength: number; readonly most: number },
): Promise<number> {
  let length = MIN_LENGTH;
  while (length < maxLength && (await fastest(prepare(length), parse)) < MEASURABLE_MS) length *= 2;
  let growth = Number.POSITIVE_INFINITY;
  let [once, fourfold] = [growth, growth];
  for (let round = 0; round < ROUNDS && growth > most; round += 1) {
    // Of all rounds: a ratio of two runs of one round is as wrong as either of them.
    once = Math.min(once, await fastest(prepare(length), parse));
    if (once < MEASURABLE_MS) return 0;
    fourfold = Math.min(fourfold, await fastest(prepare(4 * length), parse));
    growth = Math.sqrt(fourfold / once);
  }
  return growth;
}

async function fastest<T>(input: T, parse: (input: T) => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run += 1) {
    const before = process.cpuUsage();
    await parse(input);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
    // A parser this slow need not be measured again.
    if (least > 1_000) return least;
  }
  return least;
}

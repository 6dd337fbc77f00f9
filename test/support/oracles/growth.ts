/** How the CPU time of a parser grows with the length of its input. */

/** A shorter run would mostly measure the clock and the engine. */
const MEASURABLE_MS = 8;
const RUNS = 4;
/** On a machine of load 20 the best of 3 rounds was 3.1 for a linear parser; a quadratic one takes 4 in each. */
const ROUNDS = 10;
const MIN_LENGTH = 4_096;

/**
 * How many times as long a parser takes for twice the input; 0 if even the longest takes too short to be measured. By CPU
 * time, so that other processes do not count: the least of several runs, in the first round whose growth is not above `most`,
 * or else in all rounds. The mean of two doublings, because collecting the garbage of one may cost as much as parsing.
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
  let [once, fourfold] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = await fastest(prepare(length), parse);
    if (one < MEASURABLE_MS) return 0;
    const four = await fastest(prepare(4 * length), parse);
    if (growth(one, four) <= most) return growth(one, four);
    [once, fourfold] = [Math.min(once, one), Math.min(fourfold, four)];
  }
  // Of all rounds: the ratio of two runs of one round is as wrong as either of them.
  return growth(once, fourfold);
}

const growth = (once: number, fourfold: number) => Math.sqrt(fourfold / once);

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

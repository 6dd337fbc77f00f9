/** How far it grows: BENCH_GROWTH=0.001 ends each axis at a thousandth of its end, which makes a try of a minute. */
const GROWTH = Number(process.env.BENCH_GROWTH || 1);
if (!(GROWTH > 0 && GROWTH <= 1)) throw new Error('BENCH_GROWTH must be above 0, and 1 at most');

/** From the least on, ten times as many each, to the most. */
export function decades(least: number, most: number): number[] {
  const end = Math.max(least * 10, most * GROWTH);
  const sizes: number[] = [];
  for (let size = least; size <= end * 1.000_001; size *= 10) sizes.push(size);
  return sizes;
}

/** Waits for a condition instead of for a time. */
import { availableParallelism, loadavg } from 'node:os';

const LOOK_EVERY_MS = 5;
const MOST_PATIENCE = 12;

/** How many times as long everything takes here now: processes that want to run, by core. 1 on a quiet machine. */
export function patience(): number {
  const [load = 0] = loadavg();
  return Math.min(MOST_PATIENCE, Math.max(1, load / availableParallelism()));
}

export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = 10_000, message = 'the condition did not come true' }: { timeout?: number; message?: string } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const begun = performance.now();
  for (;;) {
    const result = await condition();
    if (result) return result as Exclude<T, undefined | null | false>;
    if (performance.now() > begun + timeout * patience()) throw new Error(`${message} (within ${timeout} ms)`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

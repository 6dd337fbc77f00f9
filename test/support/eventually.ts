/** Waits for a condition instead of for a time. It rests as long as a look took: many look at what works meanwhile. */
import { availableParallelism, loadavg } from 'node:os';

const LOOK_EVERY_MS = 5;
const LONGEST_REST_MS = 250;
const MOST_PATIENCE = 12;

/** How many times as long everything takes here now: processes that want to run, by core. 1 on a quiet machine. */
export function patience(): number {
  const [load = 0] = loadavg();
  return Math.min(MOST_PATIENCE, Math.max(1, load / availableParallelism()));
}

export interface Waiting {
  /** On a quiet machine. ms */
  readonly timeout?: number;
  readonly message?: string;
  /** False where it is waited for in vain, to see a fault: no longer on a busy machine. */
  readonly isPatient?: boolean;
}

export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = 10_000, message = 'the condition did not come true', isPatient = true }: Waiting = {},
): Promise<Exclude<T, undefined | null | false>> {
  const begun = performance.now();
  for (;;) {
    const looked = performance.now();
    const result = await condition();
    const tookMs = performance.now() - looked;
    if (result) return result as Exclude<T, undefined | null | false>;
    if (performance.now() > begun + timeout * (isPatient ? patience() : 1))
      throw new Error(`${message} (within ${timeout} ms)`);
    const restMs = Math.min(Math.max(LOOK_EVERY_MS, tookMs), LONGEST_REST_MS);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

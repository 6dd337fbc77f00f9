/**
 * Waits for a condition instead of a time. Rests between checks as long as one took, or a twentieth of the wait so far: many
 * tests check at the same time.
 */
import { patience } from '../../runner/patience.js';

const LOOK_EVERY_MS = 5;
const LONGEST_REST_MS = 250;

export interface Waiting {
  /** ms, on a quiet machine. */
  readonly timeout?: number;
  readonly message?: string;
  /** False to wait in vain for a fault: then the timeout is not extended on a busy machine. */
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
    const waitedMs = performance.now() - begun;
    const restMs = Math.min(Math.max(LOOK_EVERY_MS, tookMs, waitedMs / 20), LONGEST_REST_MS);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

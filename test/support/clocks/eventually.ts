/**
 * Waits for a condition instead of a time. Rests between checks as long as one took, or a twentieth of the wait so far: many
 * tests check at the same time.
 */
const MIN_REST_MS = 5;
const MAX_REST_MS = 250;
/**
 * The one time limit of all waiting tests. It detects a hang and says nothing about speed: the slowest condition takes about
 * 10 s on a quiet machine, and a busy one may take ten times that.
 */
export const HANG_MS = 120_000;

export interface Waiting {
  readonly message?: string;
  /** ms. A limit below HANG_MS counts only if `isPatient` is false. */
  readonly timeout?: number;
  /** False if the condition is expected to stay false, as with an adapter that is broken on purpose. */
  readonly isPatient?: boolean;
}

export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = HANG_MS, message = 'the condition did not come true', isPatient = true }: Waiting = {},
): Promise<Exclude<T, undefined | null | false>> {
  const limitMs = isPatient ? Math.max(timeout, HANG_MS) : timeout;
  const startedAt = performance.now();
  for (;;) {
    const checkedAt = performance.now();
    const result = await condition();
    const tookMs = performance.now() - checkedAt;
    if (result) return result as Exclude<T, undefined | null | false>;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > limitMs) throw new Error(`${message} (within ${limitMs} ms)`);
    const restMs = Math.min(Math.max(MIN_REST_MS, tookMs, waitedMs / 20), MAX_REST_MS);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

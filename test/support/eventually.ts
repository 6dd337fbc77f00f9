import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 5;

export interface EventuallyOptions {
  /** ms; 5,000 without it. */
  readonly timeout?: number;
  /** What was waited for: the text of the error. */
  readonly message?: string;
}

/**
 * Waits until the condition is truthy, and gives back what it gave. A condition that throws counts as not yet true.
 * @throws Error where it is not true in time, with the condition's last error as its cause
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeout = 5_000, message = 'the condition' }: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const until = performance.now() + timeout;
  let cause: unknown;
  do {
    try {
      const value = await condition();
      if (value) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await pause(POLL_MS);
  } while (performance.now() < until);
  throw new Error(`not within ${timeout} ms: ${message}`, { cause });
}

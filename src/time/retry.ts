/** Waiting that a signal ends, and the one loop around work that must go on whatever fails. */
import { setTimeout as delay } from 'node:timers/promises';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Fulfilled after this many ms, or at once when the signal aborts. */
export const sleep: Sleep = async (ms, signal) => {
  await delay(ms, undefined, { signal }).catch(() => undefined);
};

const FIRST_PAUSE_MS = 1_000;

export interface RetryOptions {
  /** Ends the loop; `work` has to end by itself. */
  readonly signal: AbortSignal;
  /** Called with each failure, except after the signal. */
  readonly failed: (error: unknown) => void;
  /** The pause doubles up to this, and begins anew after work that lasted as long. Default: it stays a second. ms */
  readonly longestPauseMs?: number;
  /** ms, monotonic */
  readonly now?: () => number;
  readonly pause?: Sleep;
}

/** Runs `work` again a pause after it has ended, however it ended, until the signal aborts. Never rejects. */
export async function retry(work: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { signal, failed, longestPauseMs = FIRST_PAUSE_MS, now = () => performance.now(), pause = sleep } = options;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const begunAt = now();
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
    if (now() - begunAt >= longestPauseMs) pauseMs = FIRST_PAUSE_MS;
    if (!signal.aborted) await pause(pauseMs, signal);
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

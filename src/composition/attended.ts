/**
 * Something that runs until it dies, and is begun again then, so that the rest of the process goes on.
 *
 *   running -> dead -> pausing -> beginning -> running ...
 *                         ^            \-> pausing          (a pause of 1 s, doubling to 60 s)
 *   any of them -> closed
 */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface Attended<T> {
  /** The one that runs, or the last one that did. */
  readonly current: T;
  /** Rejected where it died and is not begun again. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface AttendedParts<T> {
  readonly begin: () => Promise<T>;
  /** Rejected where it died. */
  readonly closed: (running: T) => Promise<void>;
  readonly close: (running: T) => Promise<void>;
  /** Of each death, and of each try that fails. */
  readonly lost: (error: unknown) => void;
  readonly found: () => void;
  readonly again: boolean;
  /** Fulfilled after so many ms, or at once where the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function attend<T>(first: T, parts: AttendedParts<T>): Attended<T> {
  const { begin, closed, close, lost, found, again } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  let current = first;

  /** Until it is closed. */
  async function goOn(): Promise<void> {
    while (!signal.aborted) {
      const error = await closed(current).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null || signal.aborted) return;
      lost(error);
      await close(current).catch(() => undefined);
      if (await begunAgain()) found();
    }
  }

  /** False where it was closed meanwhile. */
  async function begunAgain(): Promise<boolean> {
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      await parts.pause(pause, signal);
      if (signal.aborted) return false;
      const begun = await begin().catch((error: unknown) => {
        lost(error);
        return null;
      });
      if (begun === null) continue;
      current = begun;
      // Who closes has closed the one before it.
      if (signal.aborted) await close(begun);
      return !signal.aborted;
    }
    return false;
  }

  const going = again ? goOn() : closed(first);
  going.catch(() => undefined);
  return {
    get current() {
      return current;
    },
    closed: going,
    async close() {
      stopping.abort();
      await close(current);
      await going.catch(() => undefined);
    },
  };
}

/**
 * Restarts a component that dies, so that the rest of the process continues. One that dies soon after its start waits longer
 * than before: what it does in between, it may do in vain.
 *
 *   running -> dead -> pausing -> starting -> running ...
 *                         ^            \-> pausing         (a pause of 1 s, doubling to 60 s until it runs for 60 s)
 *   any of them -> closed
 */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface Attended<T> {
  /** The running component, or the last one that ran. */
  readonly current: T;
  /** Rejected if the component died and is not restarted. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface AttendedParts<T> {
  readonly begin: () => Promise<T>;
  /** Rejected if the component died. */
  readonly closed: (running: T) => Promise<void>;
  readonly close: (running: T) => Promise<void>;
  /** Called for each death and for each failed restart. */
  readonly lost: (error: unknown) => void;
  readonly found: () => void;
  readonly again: boolean;
  /** ms, monotonic */
  readonly now: () => number;
  /** Fulfilled after this many ms, or at once if the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function attend<T>(first: T, parts: AttendedParts<T>): Attended<T> {
  const { begin, closed, close, lost, found, again } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  let current = first;
  let begunAt = parts.now();
  let pause = FIRST_PAUSE_MS;

  /** Runs until closed. */
  async function goOn(): Promise<void> {
    while (!signal.aborted) {
      const error = await closed(current).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error === null || signal.aborted) return;
      if (parts.now() - begunAt >= LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
      lost(error);
      await close(current).catch(() => undefined);
      if (await begunAgain()) found();
    }
  }

  /** False if closed meanwhile. */
  async function begunAgain(): Promise<boolean> {
    while (!signal.aborted) {
      await parts.pause(pause, signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      if (signal.aborted) return false;
      const begun = await begin().catch((error: unknown) => {
        lost(error);
        return null;
      });
      if (begun === null) continue;
      current = begun;
      begunAt = parts.now();
      // `close` has only closed the previous component.
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

/**
 * Whether an idle connection may carry a request at once. What a receiver sends on it unasked would be taken for the response to the
 * next request (GHSA-35p6-xmwp-9g52), so undici 7.30 waits for a turn of the event loop, in which it reads, before it reuses a connection.
 * Alongside 400 hostile accounts this took 21 ms (median) and 109 ms (p99), a third of a delivery's time. The kernel can be asked instead. What has waited for its turn waits on: such
 * requests gather in a turn, and so do the commits of their results. Without that, full load was 20 to 30 % less a second.
 */
import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

const byte = Buffer.alloc(1);

/**
 * Reads from the socket without blocking: unlike a poll, it also sees what came a moment ago.
 * @returns unknown where the platform has no descriptor for it (Windows). Hazard: what is read is lost, so a connection with something
 * unread must end: it was closed by the receiver, or its next bytes belong to no request
 */
export function unreadOn(tcp: Socket): 'nothing' | 'something' | 'unknown' {
  const { fd = -1 } = (tcp as { _handle?: { readonly fd?: number } | null })._handle ?? {};
  if (fd < 0) return 'unknown';
  const { stackTraceLimit } = Error;
  // Nothing to read is an error, whose stack takes 2 of 5 us.
  Error.stackTraceLimit = 0;
  try {
    readSync(fd, byte);
    return 'something';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'nothing' : 'something';
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const NAME = 'kIdleSocketValidation';
/** undici's values: 0 before the wait, 1 during it, 2 after it, until the next request. */
const VALIDATED = 2;
/** One for the process: undici makes it when it is loaded. */
let key: symbol | undefined;

/** Tells undici that its wait for the socket is over. If it renames its symbol, it waits again, and endpoint-agent.test.ts fails. */
export function endValidation(socket: TLSSocket): void {
  key ??= Object.getOwnPropertySymbols(socket).find(({ description }) => description === NAME);
  if (key) Object.assign(socket, { [key]: VALIDATED });
}

/** A shorter turn costs less than the read, which takes 15 us of a busy process. */
const LONG_MS = 10;
const LATELY_MS = 1_000;

/** How long a turn of the event loop takes, as the last one that was looked at did. */
export class TurnLength {
  readonly #now: () => number;
  readonly #nextTurn: (reached: () => void) => unknown;
  #ms = 0;
  #seenAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  /** @param now ms of a monotonic clock */
  constructor(now = () => performance.now(), nextTurn: (reached: () => void) => unknown = setImmediate) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** Asked for each request. */
  isLong(): boolean {
    const now = this.#now();
    if (!this.#isLooking) this.#look(now);
    return this.#ms > LONG_MS && now - this.#seenAt < LATELY_MS;
  }

  #look(from: number): void {
    this.#isLooking = true;
    this.#nextTurn(() => {
      this.#isLooking = false;
      this.#seenAt = this.#now();
      this.#ms = this.#seenAt - from;
    });
  }
}

/**
 * Whether an idle connection may carry a request at once. What a receiver sends on it unasked would be taken for the response to the
 * next request (GHSA-35p6-xmwp-9g52), so undici 7.30 waits for a turn of the event loop, in which it reads, before it reuses a
 * connection. On a busy thread this wait is long, and the kernel can be asked instead (decision 0003).
 */
import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

const byte = Buffer.alloc(1);

/**
 * Reads one byte without blocking: it also sees what came since the event loop last polled.
 * Hazard: what is read is lost, so a connection with something unread must end. The receiver has closed it, or sent what belongs to no
 * request; rarely it is what undici would ignore: a late session ticket, a KeyUpdate, an empty line.
 * @returns unknown where there is no descriptor for it (Windows)
 */
export function unreadOn(tcp: Socket): 'nothing' | 'something' | 'unknown' {
  const { fd = -1 } = (tcp as { _handle?: { readonly fd?: number } | null })._handle ?? {};
  if (fd < 0) return 'unknown';
  const { stackTraceLimit } = Error;
  // Nothing to read is an error: 5.5 us with its stack, 4 without.
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

/** Ends undici's wait for the socket. If undici renames its symbol, it waits as before, and idle-socket.test.ts fails. */
export function endValidation(socket: TLSSocket): void {
  key ??= Object.getOwnPropertySymbols(socket).find(({ description }) => description === NAME);
  if (key) Object.assign(socket, { [key]: VALIDATED });
}

/** Chosen, not measured: a delivery may wait that long, which saves the read, 15 us of a busy thread. */
const LONG_MS = 10;
const LATELY_MS = 1_000;

/** Whether turns of the event loop take long. Measured from a request to the end of its turn. */
export class TurnLength {
  readonly #now: () => number;
  readonly #nextTurn: (reached: () => void) => unknown;
  /** A short turn halves it: one may begin late in a turn, and see little of it. */
  #ms = 0;
  #seenAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  /** @param now ms of a monotonic clock */
  constructor(now = () => performance.now(), nextTurn: (reached: () => void) => unknown = setImmediate) {
    this.#now = now;
    this.#nextTurn = nextTurn;
  }

  /** Call for each request. */
  areLong(): boolean {
    const now = this.#now();
    if (!this.#isLooking) this.#look(now);
    return this.#ms > LONG_MS && now - this.#seenAt < LATELY_MS;
  }

  #look(from: number): void {
    this.#isLooking = true;
    this.#nextTurn(() => {
      this.#isLooking = false;
      this.#seenAt = this.#now();
      this.#ms = Math.max(this.#seenAt - from, this.#ms / 2);
    });
  }
}

/**
 * What attempts cost the process. It has one thread, and does in turn what attempts ask of it: a scheduler that starts too
 * much is late for everybody. Connections are kept for the endpoint that they lead to, as the real client keeps them.
 */

/** Measured: an attempt through a kept connection, and what a handshake costs besides. */
export const ATTEMPT_MS = 0.25;
export const HANDSHAKE_MS = 1.5;
const KEPT_FOR_MS = 60_000;

interface ProcessorParts {
  readonly now: () => number;
  readonly perEndpoint: number;
  /** Without it nothing costs anything. */
  readonly hasCpu: boolean;
}

export class Processor {
  readonly #parts: ProcessorParts;
  /** By URL: when each idle connection is closed. The last is the one that was used last. */
  readonly #idle = new Map<string, number[]>();
  #freeAt = 0;
  #asked = 0;

  constructor(parts: ProcessorParts) {
    this.#parts = parts;
  }

  /** How late the thread does what is asked of it now. */
  readonly lateMs = () => Math.max(0, this.#freeAt - this.#parts.now());

  /** What was asked of it so far, ms. */
  get askedMs(): number {
    return this.#asked;
  }

  /** What it has done until now. */
  readonly busyMs = () => this.#asked - this.lateMs();

  /** @returns ms until the thread has done that */
  works(ms: number): number {
    if (!this.#parts.hasCpu) return 0;
    const now = this.#parts.now();
    this.#freeAt = Math.max(now, this.#freeAt) + ms;
    this.#asked += ms;
    return this.#freeAt - now;
  }

  readonly idleTo = (url: string) => {
    const now = this.#parts.now();
    return this.#idle.get(url)?.filter((closesAt) => closesAt > now).length ?? 0;
  };

  /** @returns whether a connection is made */
  connects(url: string): boolean {
    const idle = this.#idle.get(url);
    const closesAt = idle?.pop();
    if (closesAt !== undefined && closesAt > this.#parts.now()) return false;
    this.#idle.delete(url);
    return true;
  }

  keeps(url: string): void {
    const idle = this.#idle.get(url);
    const closesAt = this.#parts.now() + KEPT_FOR_MS;
    if (!idle) this.#idle.set(url, [closesAt]);
    else if (idle.length < this.#parts.perEndpoint) idle.push(closesAt);
  }

  /** Of an attempt: the handshake is before its connection is ready, a dear answer before its end. @param leastMs of both */
  costOf(hasConnected: boolean, leastMs = 0) {
    const toBeginMs = ATTEMPT_MS + (hasConnected ? HANDSHAKE_MS : 0);
    return { toBeginMs, ofAnswerMs: Math.max(0, leastMs - toBeginMs) };
  }
}

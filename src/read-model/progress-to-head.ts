/** Whether a subscription advances towards the known heads of the store: one that is cut off does not. */

/** A subscription that has not advanced towards a known head for that long is recreated. */
const STANDSTILL_MS = 6_000;

export class ProgressToHead {
  readonly #now: () => number;
  #position: string | null = null;
  /** When it last advanced towards a head that it has not passed, by `now`; null if it has passed the last one. */
  #movedAt: number | null = null;

  /** @param now ms, monotonic */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** ms since it last advanced; 0 if it has passed the last head. */
  get behindMs(): number {
    return this.#movedAt === null ? 0 : this.#now() - this.#movedAt;
  }

  passed(): void {
    this.#movedAt = null;
  }

  /** Call with a head not yet passed. @returns true if the subscription has stalled */
  isStill(position: string | null): boolean {
    if (this.#movedAt === null || this.#position !== position) this.#movedAt = this.#now();
    this.#position = position;
    return this.behindMs >= STANDSTILL_MS;
  }
}

/** Whether a subscription comes closer to the heads that the store is known to have: one that is cut off does not. */

/** A subscription that has not come closer to a known head for so long is made again. */
const STANDSTILL_MS = 6_000;

export class ProgressToHead {
  readonly #now: () => number;
  #position: string | null = null;
  /** When it last came closer to a head that it has not passed, by `now`; null where it has passed the last one. */
  #movedAt: number | null = null;

  /** @param now ms that never go back */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** ms since it last came closer; 0 where it has passed the last head. */
  get behindMs(): number {
    return this.#movedAt === null ? 0 : this.#now() - this.#movedAt;
  }

  passed(): void {
    this.#movedAt = null;
  }

  /** The head is not passed yet. @returns true where it stands still */
  isStill(position: string | null): boolean {
    if (this.#movedAt === null || this.#position !== position) this.#movedAt = this.#now();
    this.#position = position;
    return this.behindMs >= STANDSTILL_MS;
  }
}

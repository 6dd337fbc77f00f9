/** Commits for a group the offsets that are done, one commit at a time and at most every 100 ms. */
import { setTimeout as delay } from 'node:timers/promises';
import { withinTime } from './time-limit.js';

const KEEP_EVERY_MS = 100;
const TRY_AGAIN_MS = 500;

/** A source of offsets to commit. */
export interface Kept {
  /** The offset to commit, before which everything is done; null if it is committed already. */
  readonly unremembered: number | null;
  remembered(offset: number): void;
  /** The same for a hand-over to another consumer, or to the next start; work done behind the offset counts too. */
  readonly toHandOver: number | null;
}

export class OffsetKeeper<K extends Kept> {
  readonly #lanes: () => Iterable<K>;
  readonly #save: (offsets: ReadonlyMap<K, number>) => Promise<void>;
  #timer: NodeJS.Timeout | null = null;
  #saving: Promise<boolean> = Promise.resolve(true);
  #stopped = false;

  constructor(lanes: () => Iterable<K>, save: (offsets: ReadonlyMap<K, number>) => Promise<void>) {
    this.#lanes = lanes;
    this.#save = save;
  }

  keepSoon(): void {
    this.#after(KEEP_EVERY_MS);
  }

  /** Commits everything done so far; never rejects: a failed commit is retried, or a restart redelivers its records. */
  async keepNow(): Promise<void> {
    await this.#saved((lane) => lane.unremembered);
  }

  /** Commits everything another consumer should know, including work done behind gaps; never rejects. */
  async handOver(): Promise<void> {
    await this.#handedOver();
  }

  /** The last commit, a hand-over: retried until everything done is committed, for at most that long; never rejects. */
  async finish(ms: number): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    const until = performance.now() + ms;
    for (let left = ms; left > 0; left = until - performance.now()) {
      if (await withinTime(left, this.#handedOver()).catch(() => false)) return;
      await delay(Math.min(TRY_AGAIN_MS, Math.max(0, until - performance.now())));
    }
  }

  #handedOver(): Promise<boolean> {
    return this.#saved((lane) => lane.toHandOver);
  }

  /** False if the commit failed. */
  #saved(offsetOf: (lane: K) => number | null): Promise<boolean> {
    this.#saving = this.#saving
      .then(() => this.#keep(offsetOf))
      .then(
        () => true,
        () => {
          this.#after(TRY_AGAIN_MS);
          return false;
        },
      );
    return this.#saving;
  }

  #after(ms: number): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.keepNow();
    }, ms);
  }

  async #keep(offsetOf: (lane: K) => number | null): Promise<void> {
    const advanced = new Map<K, number>();
    for (const lane of this.#lanes()) {
      const offset = offsetOf(lane);
      if (offset !== null) advanced.set(lane, offset);
    }
    if (advanced.size === 0) return;
    await this.#save(advanced);
    for (const [lane, offset] of advanced) lane.remembered(offset);
  }
}

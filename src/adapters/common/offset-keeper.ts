/**
 * Commits for a group the offsets that are done, one commit at a time and at most every 100 ms; once a second together with
 * the work done behind them, which a killed process would otherwise do again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordLane } from './record-lane.js';
import { withinTime } from './time-limit.js';

const KEEP_EVERY_MS = 100;
const TRY_AGAIN_MS = 500;
const BEHIND_EVERY_MS = 1_000;
/** Hazard: to encode a million records takes a second. */
const MOST_BEHIND = 20_000;

type Save<K> = (offsets: ReadonlyMap<K, number>, withBehind: boolean) => Promise<void>;

export class OffsetKeeper<K extends RecordLane> {
  readonly #lanes: () => Iterable<K>;
  readonly #save: Save<K>;
  /** A bare offset replaces what was committed with the last one: only from here on it covers that. */
  readonly #coveredFrom = new WeakMap<K, number>();
  #timer: NodeJS.Timeout | null = null;
  #behindTimer: NodeJS.Timeout | null = null;
  #saving: Promise<boolean> = Promise.resolve(true);
  #stopped = false;

  constructor(lanes: () => Iterable<K>, save: Save<K>) {
    this.#lanes = lanes;
    this.#save = save;
  }

  keepSoon(): void {
    this.#after(KEEP_EVERY_MS);
    this.#behindSoon();
  }

  /** Commits everything another consumer should know, work done behind gaps too. Never rejects. @returns false if failed */
  handOver(): Promise<boolean> {
    return this.#saved((lane) => lane.toHandOver, true);
  }

  /** The last commit, a hand-over: retried until everything done is committed, for at most that long; never rejects. */
  async finish(ms: number): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#behindTimer) clearTimeout(this.#behindTimer);
    const until = performance.now() + ms;
    for (let left = ms; left > 0; left = until - performance.now()) {
      if (await withinTime(left, this.handOver()).catch(() => false)) return;
      await delay(Math.min(TRY_AGAIN_MS, Math.max(0, until - performance.now())));
    }
  }

  #saved(offsetOf: (lane: K, coveredFrom: number) => number | null, withBehind: boolean): Promise<boolean> {
    this.#saving = this.#saving
      .then(() => this.#keep(offsetOf, withBehind))
      .then(
        () => true,
        () => {
          this.#after(TRY_AGAIN_MS);
          if (withBehind) this.#behindSoon();
          return false;
        },
      );
    return this.#saving;
  }

  #after(ms: number): void {
    if (this.#stopped) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#saved(
        ({ unremembered }, from) => (unremembered === null || unremembered < from ? null : unremembered),
        false,
      );
    }, ms);
  }

  #behindSoon(): void {
    if (this.#stopped) return;
    this.#behindTimer ??= setTimeout(() => {
      this.#behindTimer = null;
      void this.#saved((lane) => (lane.behindSize > MOST_BEHIND ? null : lane.toHandOver), true);
    }, BEHIND_EVERY_MS);
  }

  async #keep(offsetOf: (lane: K, coveredFrom: number) => number | null, withBehind: boolean): Promise<void> {
    const advanced = new Map<K, number>();
    for (const lane of this.#lanes()) {
      const offset = offsetOf(lane, this.#coveredFrom.get(lane) ?? 0);
      if (offset !== null) advanced.set(lane, offset);
    }
    if (advanced.size === 0) return;
    await this.#save(advanced, withBehind);
    for (const [lane, offset] of advanced) {
      lane.remembered(offset);
      this.#coveredFrom.set(lane, withBehind && lane.behindSize > 0 ? lane.handedOutEnd : 0);
    }
  }
}

/** Commits what is done for a group, one commit at a time: the offsets, and the work done behind them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Progress, RecordLane } from './record-lane.js';
import { withinTime } from './time-limit.js';

/** A killed process does again what it did since. */
const KEEP_EVERY_MS = 250;
const TRY_AGAIN_MS = 500;
/** Hazard: to encode a million records takes a second. Above this, only the last commit is made. */
const MOST_BEHIND = 40_000;

type Save<K> = (progress: ReadonlyMap<K, Progress>) => Promise<void>;

export class OffsetKeeper<K extends RecordLane> {
  readonly #lanes: () => Iterable<K>;
  readonly #save: Save<K>;
  #timer: NodeJS.Timeout | null = null;
  #saving: Promise<boolean> = Promise.resolve(true);
  #stopped = false;

  constructor(lanes: () => Iterable<K>, save: Save<K>) {
    this.#lanes = lanes;
    this.#save = save;
  }

  keepSoon(): void {
    this.#after(KEEP_EVERY_MS);
  }

  /** Commits everything another consumer should know. Never rejects. @returns false if it failed */
  handOver(): Promise<boolean> {
    return this.#saved(Number.POSITIVE_INFINITY);
  }

  /** The last commit, a hand-over: retried until everything done is committed, for at most that long; never rejects. */
  async finish(ms: number): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    const until = performance.now() + ms;
    for (let left = ms; left > 0; left = until - performance.now()) {
      if (await withinTime(left, this.handOver()).catch(() => false)) return;
      await delay(Math.min(TRY_AGAIN_MS, Math.max(0, until - performance.now())));
    }
  }

  #saved(mostBehind: number): Promise<boolean> {
    this.#saving = this.#saving
      .then(() => this.#keep(mostBehind))
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
      void this.#saved(MOST_BEHIND);
    }, ms);
  }

  async #keep(mostBehind: number): Promise<void> {
    const progress = new Map<K, Progress>();
    for (const lane of this.#lanes()) {
      // A bare offset would replace what was stored with the last one.
      if (lane.behindSize > mostBehind) continue;
      const hasBehind = lane.behindSize > 0;
      const offset = lane.unremembered ?? (hasBehind ? lane.committed : null);
      if (offset !== null) progress.set(lane, { offset, ...(hasBehind && { behind: lane.behind }) });
    }
    if (progress.size === 0) return;
    await this.#save(progress);
    for (const [lane, { offset }] of progress) lane.remembered(offset);
  }
}

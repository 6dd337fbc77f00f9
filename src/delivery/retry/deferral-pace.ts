/**
 * How often the deliveries come back that a URL does not take: for nothing, until it does. A backlog of days that came back
 * every 33 min would keep broker and process busy. So where there are many, they wait longer.
 *
 * Nobody counts how many there are, and a restart forgets nothing, by Little's law: those that come back in a second, times
 * how long they were away, are all of them. So the delay is known with which they come as often as they may. The numbers
 * below were tried in deferral-pace.test.ts: 3 days of 1 and of 20 new ones a second.
 */
import { LRUCache } from 'lru-cache';
import { DEFERRALS, type Delay, longestMs } from './retry-schedule.js';

/** Deferrals a second, of new deliveries and of those that come back. */
const MOST = { url: 200, process: 2_000 };
/** Of these, for those that come back: by chance there are more in some seconds, and they come as many as they were a delay ago. */
const AIM = 0.46;
/** So many of them are left to each new one, which comes back sooner on its way to the longer tiers; but some are left for others. */
const FOR_NEW = 3;
const LEAST = 0.25;
/** By so much a delay that the time away asks for may be too short. */
const SLACK = 2;
/** The estimates' memory: as long as two delays, else what came together would be taken for more than it is, or less, in turns. */
const MEMORY_MS = 3_000;
const MEMORY_DELAYS = 2;
/** Before anything is known, of a URL that is away for hours: as many come back as is usual for a backlog that grows. */
const AT_FIRST = 1.2;
/** A burst is not how many come. */
const NEW_MEMORY_MS = 60_000;
const REMEMBERED = 10_000;

interface PaceParts {
  readonly schedule: readonly Delay[];
  /** ms of a monotonic clock */
  readonly monotonicNow: () => number;
  readonly random: () => number;
  readonly most?: typeof MOST;
}

/** Of one process, by what passes through it. */
export class DeferralPace {
  readonly #parts: PaceParts & { readonly most: typeof MOST };
  /** Ascending. */
  readonly #delays: readonly Delay[];
  readonly #urls = new LRUCache<string, Backlog>({ max: REMEMBERED });
  #all: Backlog | null = null;

  constructor(parts: PaceParts) {
    this.#parts = { most: MOST, ...parts };
    const beyond = parts.schedule.filter(({ ms }) => ms > DEFERRALS[3].ms).sort((one, other) => one.ms - other.ms);
    this.#delays = [...DEFERRALS, ...beyond].filter(({ ms }, index, all) => ms !== all[index - 1]?.ms);
  }

  /**
   * Counts a deferral. @param outage of a URL: each is counted anew @param baseMs how long it would last @param lastMs how
   * long the last one lasted, of which the delivery comes; 0: it is new @returns a longer delay that it has to last; null: none
   */
  longer(outage: string, baseMs: number, lastMs: number): Delay | null {
    const { monotonicNow, most } = this.#parts;
    const now = monotonicNow();
    // A forged record may say anything.
    const cameFromMs = Math.min(lastMs, longestMs(this.#delays.at(-1) ?? DEFERRALS[3]));
    const isLong = baseMs >= DEFERRALS[3].ms;
    this.#all ??= new Backlog(most.process, now, isLong);
    // An outage that is seen first long after the process began has no past that a restart hides.
    const url = this.#urls.get(outage) ?? new Backlog(most.url, this.#all.begunAt, isLong);
    this.#urls.set(outage, url);
    const wantedMs = Math.max(url.delayMs(now, cameFromMs), this.#all.delayMs(now, cameFromMs));
    const delay = wantedMs > SLACK * baseMs ? this.#near(wantedMs, Math.max(baseMs, cameFromMs)) : undefined;
    return delay && delay.ms > baseMs ? delay : null;
  }

  /** One of the two beside it, so that their mean is the wanted one; at most one longer than the last. */
  #near(wantedMs: number, lastMs: number): Delay | undefined {
    const index = this.#indexOf(wantedMs);
    const [low, high] = [this.#delays[index], this.#delays[index + 1]];
    const share = low && high ? (wantedMs - meanMs(low)) / (meanMs(high) - meanMs(low)) : 0;
    const picked = this.#parts.random() < share ? index + 1 : index;
    return this.#delays[Math.min(picked, this.#indexOf(lastMs) + 1)];
  }

  #indexOf(ms: number): number {
    return this.#delays.findLastIndex((delay) => delay.ms <= ms);
  }
}

/** What waits, by what came back lately. */
class Backlog {
  readonly begunAt: number;
  readonly #most: number;
  #at: number;
  /** A second, of those that came back, and of the new ones. */
  #back: number;
  #new = 0;
  /** Of those that came back: how many, and how long they were away together, ms. */
  #count = 0;
  #awayMs = 0;

  constructor(most: number, now: number, isLong: boolean) {
    this.begunAt = now;
    this.#most = most;
    this.#at = now;
    this.#back = isLong ? most * AIM * AT_FIRST : 0;
  }

  /** Counts one. @returns the delay with which all that wait come back as often as they may */
  delayMs(now: number, cameFromMs: number): number {
    const memoryMs = MEMORY_MS + MEMORY_DELAYS * (this.#count > 0 ? this.#awayMs / this.#count : cameFromMs);
    const elapsedMs = now - this.#at;
    const left = Math.exp(elapsedMs / -memoryMs);
    const [back, fresh] = cameFromMs > 0 ? [1, 0] : [0, 1];
    this.#at = now;
    this.#back = this.#back * left + (back * 1_000) / memoryMs;
    this.#new = this.#new * Math.exp(elapsedMs / -NEW_MEMORY_MS) + (fresh * 1_000) / NEW_MEMORY_MS;
    this.#count = this.#count * left + back;
    this.#awayMs = this.#awayMs * left + cameFromMs;
    if (this.#count === 0) return 0;
    const perSecond = Math.max(this.#most * AIM - FOR_NEW * this.#new, this.#most * LEAST);
    return (this.#back / perSecond) * (this.#awayMs / this.#count);
  }
}

/** With its jitter. */
function meanMs(delay: Delay): number {
  return (delay.ms + longestMs(delay)) / 2;
}

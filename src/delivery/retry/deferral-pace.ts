/**
 * How often the deliveries come back that a URL does not take: for nothing, until it does. A backlog of days that came back
 * every 33 min would keep broker and process busy. So a URL, and a process, may defer so many a second; what is deferred beyond
 * that goes one tier further than it came from, and stays there while its URL is away. Where it came from is in its record, so a
 * restart forgets nothing. deferral-pace.test.ts plays 3 days.
 */
import { TokenBuckets } from '../../time/token-buckets.js';
import { DEFERRALS, type Delay } from './retry-schedule.js';

/** Deferrals a second, of new deliveries and of those that come back. */
const MOST = { url: 200, process: 2_000 };
/** Of these, on average: by chance there are nearly twice as many in some seconds. */
const AIM = 1 / 2;
/** A new delivery is deferred again in each tier on its way to the longer ones. With less, 20 new ones a second came to 234 in all. */
const NEW_COUNTS_AS = 5;
/** A burst of 500 new ones for a URL is no backlog. */
const BURST_MS = 30_000;

interface PaceParts {
  readonly schedule: readonly Delay[];
  /** ms of a monotonic clock */
  readonly monotonicNow: () => number;
  readonly most?: typeof MOST;
}

/** How long a delivery waits by itself, for how long its URL took nothing, and how long it waited last (0: it is new). */
export interface Waited {
  readonly baseMs: number;
  readonly awayMs: number;
  readonly lastMs: number;
}

/** Of one process, by what passes through it. */
export class DeferralPace {
  readonly #most: typeof MOST;
  /** Ascending. */
  readonly #delays: readonly Delay[];
  /** Of each URL's outage. */
  readonly #urls: TokenBuckets;
  readonly #process: TokenBuckets;

  constructor({ schedule, monotonicNow: now, most = MOST }: PaceParts) {
    this.#most = most;
    this.#urls = new TokenBuckets({ holdsMs: BURST_MS, now });
    this.#process = new TokenBuckets({ holdsMs: BURST_MS, now });
    const beyond = schedule.filter(({ ms }) => ms > DEFERRALS[3].ms).sort((one, other) => one.ms - other.ms);
    this.#delays = [...DEFERRALS, ...beyond].filter(({ ms }, index, all) => ms !== all[index - 1]?.ms);
  }

  /** Counts a deferral. @param outage of a URL: each is counted anew @returns a longer delay than its own; null: none */
  longer(outage: string, { baseMs, awayMs, lastMs }: Waited): Delay | null {
    const takesMs = (lastMs > 0 ? 1 : NEW_COUNTS_AS) * (1_000 / AIM);
    const ofUrl = this.#urls.take(outage, takesMs / this.#most.url);
    const ofProcess = this.#process.take('', takesMs / this.#most.process);
    const isBeyond = ofUrl > 0 || ofProcess > 0;
    const last = this.#indexOf(Math.max(baseMs, lastMs));
    // A longer wait than the URL was away is of an earlier outage.
    const index = isBeyond ? last + 1 : lastMs <= awayMs ? last : this.#indexOf(baseMs);
    const delay = this.#delays[Math.min(index, this.#delays.length - 1)];
    return delay && delay.ms > baseMs ? delay : null;
  }

  #indexOf(ms: number): number {
    return this.#delays.findLastIndex((delay) => delay.ms <= ms);
  }
}

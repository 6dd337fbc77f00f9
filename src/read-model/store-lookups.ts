/**
 * Lookups in the event store that callers without valid credentials can trigger: of a client id or session that the read model
 * lacks, because it is new, was revoked or ended, or never existed.
 *
 * They are limited per account and per process, and anyone can exhaust that. Beyond it, the caller waits until the read model has
 * passed the head of the store: what it still lacks then does not exist. However many wait, that asks the store for its head once
 * at a time. So wrong secrets of others lock nobody out: not an owner whom the read model has, nor a session that another process
 * has just opened.
 */
import { LRUCache } from 'lru-cache';
import { TokenBuckets } from '../time/token-buckets.js';

const SECOND_MS = 1_000;
const PER_SECOND = { account: 10, process: 200 };
const MAX_ABSENT_IDS = 10_000;
/** Of the wait for the read model, which usually takes less than a second. */
const PASSED_WITHIN_MS = 2_000;

/** The caller's credentials cannot be verified now: not a 401. */
export class TooManyLookups extends Error {
  override readonly name = 'TooManyLookups';
  readonly code = 'TOO_MANY_LOOKUPS';
  constructor(readonly retryAfterMs: number) {
    super('too many credentials were looked up in the event store');
  }
}

interface Lookup<T> {
  readonly stream: string;
  /** Random, and known to nobody before it is stored: one that is missing was revoked or never existed, and is never added. */
  readonly id?: string;
  /** What the read model has. */
  readonly known: () => T | undefined;
  /** In the store. */
  readonly search: () => Promise<T | undefined>;
}

export class StoreLookups {
  readonly #accounts: TokenBuckets;
  readonly #process: TokenBuckets;
  readonly #absent = new LRUCache<string, true>({ max: MAX_ABSENT_IDS });
  readonly #passHead: (signal: AbortSignal) => Promise<void>;
  #passing: Promise<unknown> = Promise.resolve();
  /** For all that came since the pass in progress asked for the head. */
  #nextPass: Promise<void> | null = null;

  /** @param now ms of a monotonic clock @param passHead resolves once the read model has passed the head of the store */
  constructor(now: () => number, passHead: (signal: AbortSignal) => Promise<void>) {
    this.#accounts = new TokenBuckets({ holdsMs: SECOND_MS, now });
    this.#process = new TokenBuckets({ holdsMs: SECOND_MS, now });
    this.#passHead = passHead;
  }

  /** @returns undefined if it does not exist @throws TooManyLookups, the errors of `known` and `search` */
  async find<T>({ stream, id, known, search }: Lookup<T>): Promise<T | undefined> {
    const found = known();
    if (found !== undefined || (id !== undefined && this.#absent.has(id))) return found;
    const waitMs = this.#take(stream);
    if (waitMs > 0) await this.#headPassed(waitMs);
    const stored = waitMs > 0 ? known() : await search();
    if (stored === undefined && id !== undefined) this.#absent.set(id, true);
    return stored;
  }

  /** @returns ms until there may be another lookup; 0: it may be now */
  #take(stream: string): number {
    // The account first: one that exceeds its own limit uses nothing of the process's.
    return (
      Math.max(0, this.#accounts.take(stream, SECOND_MS / PER_SECOND.account)) ||
      Math.max(0, this.#process.take('', SECOND_MS / PER_SECOND.process))
    );
  }

  /** @throws TooManyLookups */
  async #headPassed(waitMs: number): Promise<void> {
    this.#nextPass ??= this.#passing.then(() => {
      this.#nextPass = null;
      const passing = this.#passHead(AbortSignal.timeout(PASSED_WITHIN_MS));
      this.#passing = passing.catch(() => undefined);
      return passing;
    });
    await this.#nextPass.catch(() => {
      throw new TooManyLookups(waitMs);
    });
  }
}

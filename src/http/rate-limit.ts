/** Limits what an account asks of this process: requests per minute, and the cost of its reads. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context, Next } from 'koa';
import type { RecordedEvent } from '../ports/event-store.js';
import { AccountBuckets, bytesOf } from '../webhooks/account-buckets.js';
import type { ClientOwner } from '../webhooks/events.js';
import { ApiError, retryAfter } from './api-error.js';
import { callerOf } from './request-context.js';

const WINDOW_MS = 60_000;
/** Sums of fractions are slightly inexact: a request that is left to them counts as one. */
const ROUNDING_MS = 0.001;

export interface RateLimit {
  /** Takes one request from the bucket of the account, or of the publisher. */
  take(owner: ClientOwner): { readonly allowed: boolean; readonly headers: Readonly<Record<string, string>> };
}

export interface RateLimitOptions {
  /** As in the headers. */
  readonly name: string;
  /** 0: no limit, and no headers. */
  readonly perMinute: number;
  /** ms of a monotonic clock */
  readonly now: () => number;
}

/** A token bucket per account, of a minute's worth; RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10). */
export function createRateLimit({ name, perMinute, now }: RateLimitOptions): RateLimit {
  if (perMinute === 0) return { take: () => ({ allowed: true, headers: {} }) };
  const oneEveryMs = WINDOW_MS / perMinute;
  const policy = { 'ratelimit-policy': `"${name}";q=${perMinute};w=${WINDOW_MS / 1000}` };
  const buckets = new AccountBuckets({ holdsMs: WINDOW_MS, now });
  return {
    take(owner) {
      const tooEarly = buckets.take(owner, oneEveryMs);
      const allowed = tooEarly <= 0;
      // For a refused request the reset is the moment of Retry-After, otherwise the moment of a full bucket.
      const reset = Math.ceil((allowed ? WINDOW_MS + tooEarly : tooEarly) / 1000);
      const left = allowed ? Math.floor((ROUNDING_MS - tooEarly) / oneEveryMs) : 0;
      const headers = { ...policy, ratelimit: `"${name}";r=${left};t=${reset}` };
      return { allowed, headers: allowed ? headers : { ...headers, 'retry-after': String(reset) } };
    },
  };
}

/** After authentication and before any other reading of the request. */
export function limitRate(limit: RateLimit) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const { accountId } = callerOf(ctx);
    const { allowed, headers } = limit.take(accountId);
    ctx.set({ ...headers });
    if (!allowed) throw new ApiError({ code: 'too-many-requests' });
    await next();
  };
}

/** Sending is mostly copying in the kernel: a list of 770 KB took 1.5 ms. */
const BYTES_A_MS = 512 * 1024;
/** A cheaper response does not end its account's turn. */
const COSTLY_MS = 0.25;

interface ReadLimitOptions {
  /** ms per minute and account; 0: no limit. */
  readonly msPerMinute: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
}

/**
 * Limits the cost of an account's reads to this process: the time to find, make and send a response. The limit is far above
 * what clients need; a list of three webhooks costs next to nothing, one of 1 MiB some ms.
 *
 * - A bucket per account, of so many ms a minute. While it is empty, the account's reads are 429.
 * - One costly response per account and event-loop turn: the account's next reads wait for their own turn, and other
 *   accounts come in between, however many connections the account has.
 */
export class ReadLimit {
  readonly #msPerMinute: number;
  readonly #now: () => number;
  readonly #buckets: AccountBuckets;
  /** Accounts whose turn is over; fulfilled when the last waiting read has had its turn. */
  readonly #turns = new Map<number, Promise<void>>();

  constructor({ msPerMinute, now }: ReadLimitOptions) {
    this.#msPerMinute = msPerMinute;
    this.#now = now;
    this.#buckets = new AccountBuckets({ holdsMs: WINDOW_MS, now });
  }

  /** Fulfilled when the account's turn comes. Undefined: at once. @throws ApiError 429 if its bucket is empty */
  turn(accountId: number): Promise<void> | undefined {
    this.#mustBeLeft(accountId);
    const before = this.#turns.get(accountId);
    if (!before) return undefined;
    const turn = before.then(() => nextTurn());
    this.#keep(accountId, turn);
    return turn.then(() => this.#mustBeLeft(accountId));
  }

  /**
   * Makes the response and charges its cost. Synchronous: an await would charge the work of others.
   * @param bytesRead from the store or broker, for this response: to parse them costs about what it costs to send them
   */
  counted(accountId: number, make: () => string, bytesRead = 0): string {
    const begun = this.#now();
    const answer = make();
    this.charge(accountId, this.#now() - begun + (answer.length + bytesRead) / BYTES_A_MS);
    return answer;
  }

  /** Charges estimated ms of work that can't be timed. Fulfilled when the account's turn comes. @throws as `turn` */
  async spend(accountId: number, ms: number): Promise<void> {
    this.charge(accountId, ms);
    await this.turn(accountId);
  }

  /** @param cost ms, of this thread or another */
  charge(accountId: number, cost: number): void {
    if (this.#msPerMinute > 0) this.#buckets.overdraw(accountId, cost * (WINDOW_MS / this.#msPerMinute));
    if (cost >= COSTLY_MS && !this.#turns.has(accountId)) this.#keep(accountId, nextTurn());
  }

  #keep(accountId: number, turn: Promise<void>): void {
    this.#turns.set(accountId, turn);
    void turn.then(() => {
      if (this.#turns.get(accountId) === turn) this.#turns.delete(accountId);
    });
  }

  #mustBeLeft(accountId: number): void {
    const emptyForMs = this.#buckets.overdrawnFor(accountId);
    if (emptyForMs === 0) return;
    throw new ApiError({ code: 'reads-too-costly' }, retryAfter(emptyForMs));
  }
}

/** Measured, reading and folding: 20,000 events of 400 bytes took 210 ms of CPU, 1,000 of 20 KB took 90 ms. */
const MS_AN_EVENT = 0.01;
const HISTORY_BYTES_A_MS = 200 * 1024;
const MS_A_TURN = 1;

/** A history has no upper bound: its reading is paced and charged. @throws ApiError 429, besides the events' errors */
export async function* pacedHistory(events: AsyncIterable<RecordedEvent>, reads: ReadLimit, accountId: number) {
  let ms = 0;
  for await (const event of events) {
    yield event;
    ms += MS_AN_EVENT + bytesOf([event]) / HISTORY_BYTES_A_MS;
    if (ms < MS_A_TURN) continue;
    await reads.spend(accountId, ms);
    ms = 0;
  }
  await reads.spend(accountId, ms);
}

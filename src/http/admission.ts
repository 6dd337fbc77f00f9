/**
 * Admits reads of an account, so that no account takes the event loop or the memory of this process, regardless of how many
 * connections it uses. The limits are far above what clients need: a list of three webhooks costs next to nothing.
 *
 * - Time: a bucket of ms per minute for each account and user, which other threads' work for them is charged to as well. While
 *   it is overdrawn, reads are 429.
 * - Slices: after expensive work the account's next work waits for another tick of the event loop (fair-queue.ts).
 * - Permits: the number of concurrent reads, and of counts for recoveries that start, is limited (concurrency-limiter.ts). A long
 *   response keeps its permit until it is read, or for TAKEN_WITHIN_MS.
 * - Bytes: what long responses, also those of writes, hold until they are read (byte-limits.ts). Above the limit: 503.
 */
import type { Context } from 'koa';
import type { Requester } from '../limits/user-limits.js';
import { SharedBuckets } from '../limits/user-limits.js';
import type { RecordedEvent } from '../ports/event-store.js';
import { bytesOf } from '../webhooks/account-buckets.js';
import { ApiError, retryAfter } from './api-error.js';
import { ByteLimits, type MaxBytes } from './byte-limits.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import { FairQueue } from './fair-queue.js';
import { isLong, requesterOf } from './request-context.js';

const WINDOW_MS = 60_000;
/** Sending is mostly copying in the kernel: a list of 770 KB took 1.5 ms. */
const BYTES_A_MS = 512 * 1024;
/** Cheaper work does not end its account's turn. */
const COSTLY_MS = 0.25;
const TAKEN_WITHIN_MS = 2_000;

const MIB = 1024 * 1024;
const MAX_UNREAD: MaxBytes = { user: 8 * MIB, owner: 16 * MIB, process: 96 * MIB };
/**
 * Of requests that draw on a reserve, once MAX_UNREAD is used up. Separate, so that they take nothing from other accounts. A
 * user's share holds the longest list of sessions, and 16 users have to stop reading before an account has no room for one.
 */
const MAX_UNREAD_OF_RESERVES: MaxBytes = { user: MIB / 16, owner: MIB, process: 8 * MIB };

interface AdmissionOptions {
  /** ms per minute and account; 0: no limit. */
  readonly msPerMinute: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
  readonly unsent?: MaxBytes;
}

export class Admission {
  readonly #msPerMinute: number;
  readonly #now: () => number;
  readonly #buckets: SharedBuckets;
  readonly #slices = new FairQueue();
  readonly #permits = new ConcurrencyLimiter();
  /** What long answers hold. */
  readonly unsent: ByteLimits;
  readonly #reserved = new ByteLimits(MAX_UNREAD_OF_RESERVES);

  constructor({ msPerMinute, now, unsent = MAX_UNREAD }: AdmissionOptions) {
    this.#msPerMinute = msPerMinute;
    this.#now = now;
    this.#buckets = new SharedBuckets({ holdsMs: WINDOW_MS, now });
    this.unsent = new ByteLimits(unsent);
  }

  /** @param work gets a permit, which is released afterwards @throws ApiError 429, and what the work throws */
  async during<T>(ctx: Context, work: (place: Admitted, requester: Requester) => Promise<T>): Promise<T> {
    const requester = requesterOf(ctx);
    const place = await this.enter(requester);
    try {
      return await work(place, requester);
    } finally {
      place.leave();
    }
  }

  /** Leave it afterwards. @throws ApiError 429 */
  async enter(requester: Requester): Promise<Admitted> {
    this.#assertBudget(requester);
    await this.#permits.acquire(requester);
    const leave = () => this.#permits.release(requester);
    try {
      await this.waitForSlice(requester);
    } catch (error) {
      leave();
      throw error;
    }
    return new Admitted(this, requester, leave);
  }

  /** For work that needs no permit, because its response is short. @throws ApiError 429 */
  async waitForSlice(requester: Requester): Promise<void> {
    this.#assertBudget(requester);
    const slice = this.#slices.next(requester);
    if (!slice) return;
    await slice;
    this.#assertBudget(requester);
  }

  /** Takes the bytes of a long response until it is closed: read, or lost. @throws ApiError 503 */
  hold({ res }: Pick<Context, 'res'>, requester: Requester, bytes: number): void {
    const limits = this.#takeUnsent(requester, bytes);
    if (!limits) throw new ApiError({ code: 'too-many-unread' }, retryAfter(1_000));
    onceClosed(res, () => limits.giveBack(requester, bytes));
  }

  /** @returns where they were taken; null: there is no room */
  #takeUnsent(requester: Requester, bytes: number): ByteLimits | null {
    if (this.unsent.take(requester, bytes)) return this.unsent;
    return requester.mayExceed() && this.#reserved.take(requester, bytes) ? this.#reserved : null;
  }

  /** Synchronous: an await would charge the work of others. */
  timed(requester: Requester, make: () => string): string {
    const startedAt = this.#now();
    const response = make();
    this.charge(requester, this.#now() - startedAt + response.length / BYTES_A_MS);
    return response;
  }

  /** @param ms of this thread or another */
  charge(counted: Pick<Requester, 'owner' | 'user'>, ms: number): void {
    if (this.#msPerMinute > 0) this.#buckets.overdraw(counted, ms * (WINDOW_MS / this.#msPerMinute));
    if (ms >= COSTLY_MS) this.#slices.end(counted.owner);
  }

  #assertBudget(requester: Requester): void {
    const emptyForMs = this.#buckets.overdrawnFor(requester);
    if (emptyForMs > 0) throw new ApiError({ code: 'reads-too-costly' }, retryAfter(emptyForMs));
  }
}

/** Measured, reading and folding: 20,000 events of 400 bytes took 210 ms of CPU, 1,000 of 20 KB took 90 ms. */
const MS_AN_EVENT = 0.01;
const HISTORY_BYTES_A_MS = 200 * 1024;
const MS_A_TURN = 1;

/** A read that has a permit. */
export class Admitted {
  readonly #admission: Admission;
  readonly #requester: Requester;
  #giveBack: (() => void) | null;
  #isBeingTaken = false;

  constructor(admission: Admission, requester: Requester, giveBack: () => void) {
    this.#admission = admission;
    this.#requester = requester;
    this.#giveBack = giveBack;
  }

  /** Charges work that can't be timed. Fulfilled in the user's next slice. @throws ApiError 429 */
  async spend(ms: number): Promise<void> {
    this.#admission.charge(this.#requester, ms);
    await this.#admission.waitForSlice(this.#requester);
  }

  /** A history has no upper bound: reading it is charged and takes many turns. @throws ApiError 429, the events' errors */
  async *paced(events: AsyncIterable<RecordedEvent>): AsyncIterable<RecordedEvent> {
    let ms = 0;
    try {
      for await (const event of events) {
        ms += MS_AN_EVENT + bytesOf([event]) / HISTORY_BYTES_A_MS;
        yield event;
        if (ms < MS_A_TURN) continue;
        await this.spend(ms);
        ms = 0;
      }
    } finally {
      // Also of a reader that needs no more.
      this.#admission.charge(this.#requester, ms);
    }
  }

  /** @throws ApiError 503 if too much is not taken */
  send(ctx: Context, json: string): void {
    if (isLong(json.length)) this.#hold(ctx, Buffer.byteLength(json));
    sendJson(ctx, json);
  }

  /** A long answer that is being taken leaves by itself. */
  leave(): void {
    if (!this.#isBeingTaken) this.#end();
  }

  #hold(ctx: Context, bytes: number): void {
    this.#admission.hold(ctx, this.#requester, bytes);
    this.#isBeingTaken = true;
    const timer = setTimeout(() => this.#end(), TAKEN_WITHIN_MS).unref();
    onceClosed(ctx.res, () => {
      clearTimeout(timer);
      this.#end();
    });
  }

  #end(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }
}

function onceClosed(res: Context['res'], handle: () => void): void {
  if (res.closed || res.destroyed) handle();
  else res.once('close', handle);
}

export function sendJson(ctx: Context, json: string): void {
  ctx.type = 'application/json';
  ctx.body = json;
}

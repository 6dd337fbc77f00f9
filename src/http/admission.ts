/**
 * Admits reads of an account, so that no account takes the event loop or the memory of this process, over however many
 * connections it asks. The limits are far above what clients need: a list of three webhooks costs next to nothing.
 *
 * - Time: a bucket of so many ms a minute for each account, also for what other threads do for it. Overdrawn, it is 429.
 * - Turns: after costly work the account's next work waits for another turn of the event loop.
 * - Places: an account and a user have so many answers in progress (places.ts). A long one keeps its place until it is
 *   taken, or for TAKEN_WITHIN_MS.
 * - Bytes: what long answers hold until they are taken, of an account and of all. Over it: 503.
 */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { RecordedEvent } from '../ports/event-store.js';
import { TokenBuckets } from '../time/token-buckets.js';
import { bytesOf } from '../webhooks/account-buckets.js';
import { ApiError, retryAfter } from './api-error.js';
import { ByteLimits, type MostBytes } from './byte-limits.js';
import { OwnerTurns } from './owner-turns.js';
import { Places } from './places.js';
import { callerOf } from './request-context.js';

const WINDOW_MS = 60_000;
/** Sending is mostly copying in the kernel: a list of 770 KB took 1.5 ms. */
const BYTES_A_MS = 512 * 1024;
/** Cheaper work does not end its account's turn. */
const COSTLY_MS = 0.25;
/**
 * Characters. For shorter answers the limit on connections suffices. Counting every answer made GET 0.66 of the bare
 * route; with this limit it was 0.71.
 */
const LONG = 4 * 1024;
const TAKEN_WITHIN_MS = 2_000;

const MIB = 1024 * 1024;
const MOST: MostBytes = { ownerBytes: 16 * MIB, processBytes: 96 * MIB };

interface AdmissionOptions {
  /** ms per minute and account; 0: no limit. */
  readonly msPerMinute: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
  readonly unsent?: MostBytes;
}

export class Admission {
  readonly #msPerMinute: number;
  readonly #now: () => number;
  readonly #buckets: TokenBuckets;
  readonly #turns = new OwnerTurns();
  readonly #places = new Places();
  /** What long answers hold. */
  readonly unsent: ByteLimits;

  constructor({ msPerMinute, now, unsent = MOST }: AdmissionOptions) {
    this.#msPerMinute = msPerMinute;
    this.#now = now;
    this.#buckets = new TokenBuckets({ holdsMs: WINDOW_MS, now });
    this.unsent = new ByteLimits(unsent);
  }

  /** @param work gets a place, which is left afterwards @throws ApiError 429, and what the work throws */
  async during<T>(ctx: Context, work: (place: Admitted, accountId: number) => Promise<T>): Promise<T> {
    const caller = callerOf(ctx);
    const place = await this.enter(caller);
    try {
      return await work(place, caller.accountId);
    } finally {
      place.leave();
    }
  }

  /** Leave it afterwards. @throws ApiError 429 */
  async enter({ accountId, actor }: Pick<Caller, 'accountId' | 'actor'>): Promise<Admitted> {
    this.#mustBeLeft(accountId);
    await this.#places.take(accountId, actor);
    const leave = () => this.#places.leave(accountId, actor);
    try {
      await this.turn(accountId);
    } catch (error) {
      leave();
      throw error;
    }
    return new Admitted(this, accountId, leave);
  }

  /** Fulfilled when the account's turn comes. For what holds no place, as its answer is short. @throws ApiError 429 */
  async turn(accountId: number): Promise<void> {
    this.#mustBeLeft(accountId);
    const turn = this.#turns.next(accountId);
    if (!turn) return;
    await turn;
    this.#mustBeLeft(accountId);
  }

  /** Synchronous: an await would charge the work of others. */
  timed(accountId: number, make: () => string): string {
    const begun = this.#now();
    const answer = make();
    this.charge(accountId, this.#now() - begun + answer.length / BYTES_A_MS);
    return answer;
  }

  /** @param ms of this thread or another */
  charge(accountId: number, ms: number): void {
    if (this.#msPerMinute > 0) this.#buckets.overdraw(accountId, ms * (WINDOW_MS / this.#msPerMinute));
    if (ms >= COSTLY_MS) this.#turns.end(accountId);
  }

  #mustBeLeft(accountId: number): void {
    const emptyForMs = this.#buckets.overdrawnFor(accountId);
    if (emptyForMs > 0) throw new ApiError({ code: 'reads-too-costly' }, retryAfter(emptyForMs));
  }
}

/** Measured, reading and folding: 20,000 events of 400 bytes took 210 ms of CPU, 1,000 of 20 KB took 90 ms. */
const MS_AN_EVENT = 0.01;
const HISTORY_BYTES_A_MS = 200 * 1024;
const MS_A_TURN = 1;

/** A read that has a place. */
export class Admitted {
  readonly #admission: Admission;
  readonly #accountId: number;
  #giveBack: (() => void) | null;
  #isBeingTaken = false;

  constructor(admission: Admission, accountId: number, giveBack: () => void) {
    this.#admission = admission;
    this.#accountId = accountId;
    this.#giveBack = giveBack;
  }

  /** Charges work that can't be timed. Fulfilled when the account's turn comes. @throws ApiError 429 */
  async spend(ms: number): Promise<void> {
    this.#admission.charge(this.#accountId, ms);
    await this.#admission.turn(this.#accountId);
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
      this.#admission.charge(this.#accountId, ms);
    }
  }

  /** @throws ApiError 503 if too much is not taken */
  send(ctx: Context, json: string): void {
    if (isLong(json)) this.#hold(ctx, Buffer.byteLength(json));
    sendJson(ctx, json);
  }

  /** A long answer that is being taken leaves by itself. */
  leave(): void {
    if (!this.#isBeingTaken) this.#end();
  }

  #hold({ res }: Context, bytes: number): void {
    const { unsent } = this.#admission;
    if (!unsent.take(this.#accountId, bytes)) {
      throw new ApiError({ code: 'too-many-unread' }, retryAfter(1_000));
    }
    this.#isBeingTaken = true;
    const timer = setTimeout(() => this.#end(), TAKEN_WITHIN_MS).unref();
    const taken = () => {
      clearTimeout(timer);
      unsent.giveBack(this.#accountId, bytes);
      this.#end();
    };
    if (res.closed || res.destroyed) taken();
    else res.once('close', taken);
  }

  #end(): void {
    this.#giveBack?.();
    this.#giveBack = null;
  }
}
/** Whether sending it takes a place. */
export function isLong(json: string): boolean {
  return json.length >= LONG;
}

export function sendJson(ctx: Context, json: string): void {
  ctx.type = 'application/json';
  ctx.body = json;
}

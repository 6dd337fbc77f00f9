/**
 * What an account's reads may cost this process: time, of making an answer and of sending it. Far above what clients need; a
 * list of three webhooks costs next to nothing, one of 1 MiB some ms.
 * - A bucket each, of so many ms a minute; it holds a minute's worth. Empty, the account's reads are 429 until it is not.
 * - One costly answer of an account in a turn of the event loop: its next ones wait for theirs, and others come in between,
 *   however many connections it has.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ApiError } from './api-error.js';

const WINDOW_MS = 60_000;
/** Sums of fractions are a little off. */
const ROUNDING_MS = 0.001;
/** Sending is mostly the kernel's copying: a list of 770 KB took 1.5 ms. */
const BYTES_A_MS = 512 * 1024;
/** What costs less does not end its account's turn. */
const COSTLY_MS = 0.25;
/** One that falls out begins anew with a full bucket. */
const REMEMBERED_ACCOUNTS = 20_000;

export interface ReadLimitOptions {
  /** ms a minute and account; 0: no limit. */
  readonly msPerMinute: number;
  /** ms of a clock that never goes back. */
  readonly now: () => number;
}

export class ReadLimit {
  readonly #msPerMinute: number;
  readonly #now: () => number;
  /** When the bucket will be full, by `now`. */
  readonly #fullAt = new LRUCache<number, number>({ max: REMEMBERED_ACCOUNTS });
  /** Accounts whose turn is over; fulfilled when the last of those that wait has had its own. */
  readonly #turns = new Map<number, Promise<void>>();

  constructor({ msPerMinute, now }: ReadLimitOptions) {
    this.#msPerMinute = msPerMinute;
    this.#now = now;
  }

  /** Fulfilled when it is the account's turn. Undefined: at once. @throws ApiError 429 where its bucket is empty */
  turn(accountId: number): Promise<void> | undefined {
    this.#mustBeLeft(accountId);
    const before = this.#turns.get(accountId);
    if (!before) return undefined;
    const turn = before.then(() => nextTurn());
    this.#keep(accountId, turn);
    return turn.then(() => this.#mustBeLeft(accountId));
  }

  /** Makes the answer and counts what it costs. Not waited for in between: that would count the work of others. */
  counted(accountId: number, make: () => string): string {
    const begun = this.#now();
    const answer = make();
    const cost = this.#now() - begun + answer.length / BYTES_A_MS;
    this.#take(accountId, cost);
    if (cost >= COSTLY_MS && !this.#turns.has(accountId)) this.#keep(accountId, nextTurn());
    return answer;
  }

  #keep(accountId: number, turn: Promise<void>): void {
    this.#turns.set(accountId, turn);
    void turn.then(() => {
      if (this.#turns.get(accountId) === turn) this.#turns.delete(accountId);
    });
  }

  #take(accountId: number, cost: number): void {
    if (this.#msPerMinute === 0) return;
    const now = this.#now();
    this.#fullAt.set(
      accountId,
      Math.max(now, this.#fullAt.get(accountId) ?? now) + cost * (WINDOW_MS / this.#msPerMinute),
    );
  }

  #mustBeLeft(accountId: number): void {
    const emptyForMs = (this.#fullAt.get(accountId) ?? 0) - this.#now() - WINDOW_MS - ROUNDING_MS;
    if (emptyForMs <= 0) return;
    const headers = { 'retry-after': String(Math.ceil(emptyForMs / 1000)) };
    throw new ApiError(429, 'the reads of this account cost too much; Retry-After says when to ask again', { headers });
  }
}

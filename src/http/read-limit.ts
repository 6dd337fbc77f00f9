/**
 * Limits the cost of an account's reads to this process: the time to make and send a response. The limit is far above
 * what clients need; a list of three webhooks costs next to nothing, one of 1 MiB some ms.
 *
 * - A bucket per account, of so many ms a minute; it holds a minute's worth. While it is empty, the account's reads
 *   are 429.
 * - One costly response per account and event-loop turn: the account's next reads wait for their own turn, and other
 *   accounts come in between, however many connections the account has.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AccountBuckets } from '../webhooks/account-buckets.js';
import { ApiError } from './api-error.js';

const WINDOW_MS = 60_000;
/** Sending is mostly copying in the kernel: a list of 770 KB took 1.5 ms. */
const BYTES_A_MS = 512 * 1024;
/** A cheaper response does not end its account's turn. */
const COSTLY_MS = 0.25;

export interface ReadLimitOptions {
  /** ms per minute and account; 0: no limit. */
  readonly msPerMinute: number;
  /** ms of a monotonic clock. */
  readonly now: () => number;
}

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
    return this.timed(accountId, make, (answer) => answer.length + bytesRead);
  }

  /** Work for a response that takes several turns, and its cost. Synchronous as well. */
  timed<T>(accountId: number, work: () => T, charactersOf: (result: T) => number = () => 0): T {
    const begun = this.#now();
    const result = work();
    this.#charge(accountId, this.#now() - begun + charactersOf(result) / BYTES_A_MS);
    return result;
  }

  /** Charges estimated ms of work that can't be timed. Fulfilled when the account's turn comes. @throws as `turn` */
  async spend(accountId: number, ms: number): Promise<void> {
    this.#charge(accountId, ms);
    await this.turn(accountId);
  }

  #charge(accountId: number, cost: number): void {
    this.#take(accountId, cost);
    if (cost >= COSTLY_MS && !this.#turns.has(accountId)) this.#keep(accountId, nextTurn());
  }

  #keep(accountId: number, turn: Promise<void>): void {
    this.#turns.set(accountId, turn);
    void turn.then(() => {
      if (this.#turns.get(accountId) === turn) this.#turns.delete(accountId);
    });
  }

  #take(accountId: number, cost: number): void {
    if (this.#msPerMinute > 0) this.#buckets.overdraw(accountId, cost * (WINDOW_MS / this.#msPerMinute));
  }

  #mustBeLeft(accountId: number): void {
    const emptyForMs = this.#buckets.overdrawnFor(accountId);
    if (emptyForMs === 0) return;
    const headers = { 'retry-after': String(Math.ceil(emptyForMs / 1000)) };
    throw new ApiError(429, 'the reads of this account cost too much; Retry-After says when to ask again', { headers });
  }
}

/**
 * Limits long unsent responses by bytes: a client that requests and does not read would fill the memory. Each
 * connection has one response at a time (listen.ts); these limits apply across all connections of an account and of the
 * process.
 */
import type { Context } from 'koa';
import { ApiError } from './api-error.js';

const MIB = 1024 * 1024;
/**
 * Characters. For shorter responses the limit on connections suffices. A middleware that counted every response made
 * GET 0.66 of the bare route; with this limit GET is 0.71 (medians of two runs of the bench row `get`).
 */
const LONG = 4 * 1024;

export interface UnsentLimits {
  readonly accountBytes: number;
  readonly processBytes: number;
}

const LIMITS: UnsentLimits = { accountBytes: 16 * MIB, processBytes: 96 * MIB };

/** Shorter responses are not counted. */
export function isLong(answer: string): boolean {
  return answer.length >= LONG;
}

export class UnsentAnswers {
  readonly #limits: UnsentLimits;
  readonly #byAccount = new Map<number, number>();
  #all = 0;

  constructor(limits: UnsentLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Call before the response is set. @throws ApiError 503 if too much is unsent already */
  mustTake({ res }: Pick<Context, 'res'>, accountId: number, answer: string): void {
    if (!isLong(answer)) return;
    const bytes = Buffer.byteLength(answer);
    const { accountBytes, processBytes } = this.#limits;
    const ofAccount = this.#byAccount.get(accountId) ?? 0;
    if (ofAccount + bytes > accountBytes || this.#all + bytes > processBytes) throw notTaken();
    if (res.closed || res.destroyed) return;
    this.#add(accountId, bytes);
    res.once('close', () => this.#add(accountId, -bytes));
  }

  #add(accountId: number, bytes: number): void {
    this.#all += bytes;
    const now = (this.#byAccount.get(accountId) ?? 0) + bytes;
    if (now > 0) this.#byAccount.set(accountId, now);
    else this.#byAccount.delete(accountId);
  }
}

function notTaken(): ApiError {
  return new ApiError(503, 'too many responses are waiting to be read; try again', { headers: { 'retry-after': '1' } });
}

/**
 * Limits long unsent responses by bytes: a client that requests and does not read would fill the memory. Each
 * connection has one response at a time (listen.ts); these limits apply across all connections of an account and of the
 * process.
 */
import type { Context } from 'koa';
import { ApiError } from './api-error.js';
import { ByteLimits, type MostBytes } from './byte-limits.js';

const MIB = 1024 * 1024;
/**
 * Characters. For shorter responses the limit on connections suffices. A middleware that counted every response made
 * GET 0.66 of the bare route; with this limit GET is 0.71 (medians of two runs of the bench row `get`).
 */
const LONG = 4 * 1024;

const MOST: MostBytes = { ownerBytes: 16 * MIB, processBytes: 96 * MIB };

/** Shorter responses are not counted. */
export function isLong(answer: string): boolean {
  return answer.length >= LONG;
}

export class UnsentAnswers {
  readonly #limits: ByteLimits;

  constructor(most: MostBytes = MOST) {
    this.#limits = new ByteLimits(most);
  }

  /** Call before the response is set. @throws ApiError 503 if too much is unsent already */
  mustTake({ res }: Pick<Context, 'res'>, accountId: number, answer: string): void {
    if (!isLong(answer)) return;
    const bytes = Buffer.byteLength(answer);
    if (!this.#limits.take(accountId, bytes)) throw notTaken();
    const giveBack = () => this.#limits.giveBack(accountId, bytes);
    if (res.closed || res.destroyed) giveBack();
    else res.once('close', giveBack);
  }
}

function notTaken(): ApiError {
  return new ApiError(503, 'too many responses are waiting to be read; try again', { headers: { 'retry-after': '1' } });
}

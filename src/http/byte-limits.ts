/** Limits the bytes that requests and unread responses hold in memory, by account or publisher and in all. */
import type { Context } from 'koa';
import type { ClientOwner } from '../webhooks/events.js';
import { ApiError, retryAfter } from './api-error.js';

export interface MostBytes {
  readonly ownerBytes: number;
  readonly processBytes: number;
}

export class ByteLimits {
  readonly #most: MostBytes;
  readonly #byOwner = new Map<ClientOwner, number>();
  #all = 0;

  constructor(most: MostBytes) {
    this.#most = most;
  }

  /** False: there is no room, and nothing is taken. */
  take(owner: ClientOwner, bytes: number): boolean {
    const { ownerBytes, processBytes } = this.#most;
    const ofOwner = this.#byOwner.get(owner) ?? 0;
    if (ofOwner + bytes > ownerBytes || this.#all + bytes > processBytes) return false;
    this.#add(owner, bytes);
    return true;
  }

  giveBack(owner: ClientOwner, bytes: number): void {
    this.#add(owner, -bytes);
  }

  #add(owner: ClientOwner, bytes: number): void {
    this.#all += bytes;
    const now = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (now > 0) this.#byOwner.set(owner, now);
    else this.#byOwner.delete(owner);
  }
}

const MIB = 1024 * 1024;
/**
 * Characters. For shorter responses the limit on connections suffices. A middleware that counted every response made
 * GET 0.66 of the bare route; with this limit GET is 0.71 (medians of two runs of the bench row `get`).
 */
const LONG = 4 * 1024;

const MOST: MostBytes = { ownerBytes: 16 * MIB, processBytes: 96 * MIB };

export function isLong(answer: string): boolean {
  return answer.length >= LONG;
}

/** Clients that do not read would fill the memory: limits across connections, each with one response (listen.ts). */
export class UnsentAnswers {
  readonly #limits: ByteLimits;

  constructor(most: MostBytes = MOST) {
    this.#limits = new ByteLimits(most);
  }

  /** @throws ApiError 503 if too much is unsent already */
  send(ctx: Context, accountId: number, json: string): void {
    if (isLong(json)) this.#take(ctx, accountId, json);
    ctx.type = 'application/json';
    ctx.body = json;
  }

  #take({ res }: Context, accountId: number, answer: string): void {
    const bytes = Buffer.byteLength(answer);
    if (!this.#limits.take(accountId, bytes)) throw tooMuch();
    const giveBack = () => this.#limits.giveBack(accountId, bytes);
    if (res.closed || res.destroyed) giveBack();
    else res.once('close', giveBack);
  }
}

function tooMuch(): ApiError {
  return new ApiError({ code: 'too-many-unread' }, retryAfter(1_000));
}

/**
 * Answers that are made and not taken yet, by bytes: a client that asks and does not read would fill the memory. Each
 * connection has one answer at a time (listen.ts); these limits are over all connections, of an account and of the process.
 */
import type { Context, Next } from 'koa';
import { ApiError } from './api-error.js';
import { callerOf } from './request-context.js';

const MIB = 1024 * 1024;

export interface UnsentLimits {
  /** One answer more may go over each. */
  readonly accountBytes: number;
  readonly processBytes: number;
}

export const UNSENT_LIMITS: UnsentLimits = { accountBytes: 16 * MIB, processBytes: 96 * MIB };

/** Of requests whose caller is known. */
export function limitUnsent({ accountBytes, processBytes }: UnsentLimits = UNSENT_LIMITS) {
  const byAccount = new Map<number, number>();
  let all = 0;

  function add(accountId: number, bytes: number): void {
    all += bytes;
    const now = (byAccount.get(accountId) ?? 0) + bytes;
    if (now > 0) byAccount.set(accountId, now);
    else byAccount.delete(accountId);
  }

  return async (ctx: Context, next: Next): Promise<void> => {
    const { accountId } = callerOf(ctx);
    if ((byAccount.get(accountId) ?? 0) >= accountBytes || all >= processBytes) throw notTaken();
    await next();
    const bytes = ctx.length ?? 0;
    if (bytes === 0 || ctx.res.closed || ctx.res.destroyed) return;
    add(accountId, bytes);
    ctx.res.once('close', () => add(accountId, -bytes));
  };
}

function notTaken(): ApiError {
  return new ApiError(503, 'too many answers wait to be read; try again', { headers: { 'retry-after': '1' } });
}

/** Answers a read of an account: paced, charged (read-limit.ts), and held back while too much is unsent. */
import type { Context } from 'koa';
import { callerOf } from './request-context.js';
import type { Reading } from './webhooks/list-webhooks.js';

/** @param find asks for what the answer shows, and returns the maker of the answer, whose cost is charged */
export async function answerRead(
  ctx: Context,
  { reads, unsent }: Reading,
  find: (accountId: number) => Promise<() => unknown>,
): Promise<void> {
  const { accountId } = callerOf(ctx);
  const turn = reads.turn(accountId);
  if (turn) await turn;
  const make = await find(accountId);
  const body = reads.counted(accountId, () => JSON.stringify(make()));
  unsent.mustTake(ctx, accountId, body);
  ctx.type = 'application/json';
  ctx.body = body;
}

/** Answers a read of an account: paced, charged (read-limit.ts), and held back while too much is unsent. */
import type { Context } from 'koa';
import { callerOf } from './request-context.js';
import type { Reading } from './webhooks/list-webhooks.js';

/** Makes the answer: its cost is charged. */
type Make = () => unknown;
/** bytesRead: as for ReadLimit.counted. */
type Found = Make | { readonly make: Make; readonly bytesRead: number };

/** @param find asks for what the answer shows */
export async function answerRead(
  ctx: Context,
  { reads, unsent }: Reading,
  find: (accountId: number) => Promise<Found>,
): Promise<void> {
  const { accountId } = callerOf(ctx);
  const turn = reads.turn(accountId);
  if (turn) await turn;
  const found = await find(accountId);
  const { make, bytesRead } = typeof found === 'function' ? { make: found, bytesRead: 0 } : found;
  const body = reads.counted(accountId, () => JSON.stringify(make()), bytesRead);
  unsent.mustTake(ctx, accountId, body);
  ctx.type = 'application/json';
  ctx.body = body;
}

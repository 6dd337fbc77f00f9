/** Answers a read of an account: paced, charged (read-limit.ts), and held back while too much is unsent. */
import type { Context } from 'koa';
import { callerOf } from './request-context.js';
import { isUnchanged } from './tagged.js';
import type { Reading } from './webhooks/list-webhooks.js';

/** Makes the answer: its cost is charged. */
type Make = () => unknown;
interface Answer {
  readonly make: Make;
  /** As for ReadLimit.counted. */
  readonly bytesRead?: number;
  /** With an entity tag: see tagged.ts. */
  readonly isTagged?: boolean;
}

/** @param find asks for what the answer shows */
export async function answerRead(
  ctx: Context,
  { reads, unsent }: Reading,
  find: (accountId: number) => Promise<Make | Answer>,
): Promise<void> {
  const { accountId } = callerOf(ctx);
  const turn = reads.turn(accountId);
  if (turn) await turn;
  const found = await find(accountId);
  const { make, bytesRead = 0, isTagged = false }: Answer = typeof found === 'function' ? { make: found } : found;
  const body = reads.counted(accountId, () => JSON.stringify(make()), bytesRead);
  if (isTagged && isUnchanged(ctx, body)) return;
  unsent.mustTake(ctx, accountId, body);
  ctx.type = 'application/json';
  ctx.body = body;
}

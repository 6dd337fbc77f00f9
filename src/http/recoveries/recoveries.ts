/** /api/recoveries: the last recovery of each webhook, its progress, and its end. start-recovery.ts has its start. */
import type { Context } from 'koa';
import type { Requester } from '../../limits/user-limits.js';
import { type AskView, RECOVERABLE, type Recoverable } from '../../ports/deliveries-view.js';
import { count, countOrNull, list, object, oneOf, type Schema, text, time, whole } from '../../schema.js';
import type { AccountWebhooks, Recovery } from '../../webhooks/state.js';
import { ApiError, registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { write } from '../operation.js';
import { read, viewAnswer } from '../read-answer.js';
import { callerOf, requesterOf } from '../request-context.js';
import { commanded } from '../webhooks/webhook-command.js';

export const KIND: Schema<Recoverable> = { type: 'string', enum: RECOVERABLE };
export const COUNT = count('The number of deliveries when the recovery started, with those of missed events.');

const RECOVERY = object('Recovery', 'A recovery and its progress.', {
  id: text('The id of the recovery.'),
  webhookIds: list('The webhooks whose deliveries are sent again, removed ones included.', whole('An id.')),
  state: oneOf(['running', 'done', 'stopped'], '`done`: all that could be sent was sent. `stopped`: by the account.'),
  startedAt: time('When it was started.'),
  since: time('It sends deliveries of events that were published at this time or later.'),
  until: time('And before this time.'),
  include: list('The kinds of deliveries that it sends.', KIND),
  perSecond: count('How many deliveries it sends in a second, at most.'),
  count: COUNT,
  sent: count('How many deliveries it has sent again.'),
  delivered: count('How many of these were delivered.'),
  failed: count('How many of these were not delivered and have no further attempt.'),
  passedBy: countOrNull('How many it could not send, as of a removed webhook. Null before it is `done`.'),
});

/** @throws ApiError 503 if there is no view now */
async function shownRecovery(requester: Requester, recovery: Recovery, view: AskView) {
  const { actor: _, ...shown } = recovery;
  const { sent, delivered, failed } = await viewAnswer(view, requester, (known) => known.recovery(recovery.id));
  return { ...shown, sent, delivered, failed };
}

export const showRecovery = read({
  id: 'showRecovery',
  path: '/api/recoveries/{id}',
  description: 'The state and progress of a recovery.',
  returns: RECOVERY,
}).answer(async (parts, { requester, ctx }) => {
  const shown = await shownRecovery(requester, await ownRecovery(ctx, parts), parts.view);
  return () => shown;
});

export const stopRecovery = write({
  id: 'stopRecovery',
  method: 'delete',
  path: '/api/recoveries/{id}',
  usesReserve: true,
  description: 'Ends a recovery that runs. Deliveries that it has sent again still make their attempt.',
  returns: RECOVERY,
}).answer(async (parts, asked) => {
  const { ctx, at } = asked;
  const { events } = await commanded(parts, asked, { type: 'StopRecovery', recoveryId: String(ctx.params.id), at });
  // It stops whatever the account's reads have cost. Of one that had ended this is a read.
  if (events.length === 0) await parts.admission.waitForSlice(requesterOf(ctx));
  return shownRecovery(requesterOf(ctx), await ownRecovery(ctx, parts), parts.view);
});

/** @throws ApiError 404 */
async function ownRecovery(ctx: Context, { accounts }: ApiParts): Promise<Recovery> {
  const { accountId } = callerOf(ctx);
  const named = (known?: AccountWebhooks) => known?.recoveries.find(({ id }) => id === ctx.params.id);
  // Another process may have started it.
  const found = named(await accounts.webhooks(accountId)) ?? named(await accounts.webhooksNow(accountId));
  if (!found) throw new ApiError({ code: 'recovery-not-found' });
  return found;
}

export const listRecoveries = read({
  id: 'listRecoveries',
  path: '/api/recoveries',
  description: 'The last recovery of each webhook: those that run first, then the others, newest first.',
  returns: object('RecoveryList', 'The last recovery of each webhook.', {
    recoveries: list('The recoveries.', RECOVERY),
  }),
}).answer(async ({ accounts, view }, { accountId, requester }) => {
  const found = registered(await accounts.webhooks(accountId)).recoveries.toSorted(inOrder);
  const recoveries = await Promise.all(found.map((recovery) => shownRecovery(requester, recovery, view)));
  return () => ({ recoveries });
});

function inOrder(one: Recovery, other: Recovery): number {
  const isRunning = ({ state }: Recovery) => Number(state === 'running');
  return isRunning(other) - isRunning(one) || (one.startedAt < other.startedAt ? 1 : -1);
}

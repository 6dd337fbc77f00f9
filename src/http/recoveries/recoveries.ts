/** /api/recoveries: the last recovery of each webhook, its progress, and its end. start-recovery.ts has its start. */
import type { Context } from 'koa';
import { type AskView, RECOVERABLE } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { Recovery } from '../../webhooks/state.js';
import { ApiError, registered } from '../api-error.js';
import { type Operation, pathId, READ, type Route, refusal, route, WRITE } from '../operation.js';
import { type Reading, readRoute, viewAnswer } from '../read-answer.js';
import { callerOf, commandContext } from '../request-context.js';
import { TIME } from '../shared-schemas.js';
import { changes, mustBeAccepted } from '../webhooks/webhook-command.js';

export const UNAVAILABLE = refusal('The service is unavailable. Retry-After says when to try again.');
const whole = (description: string) => ({ type: 'integer', minimum: 0, description });

export const COUNT = whole('The number of deliveries when the recovery started, with those of missed events.');

const RECOVERY = {
  id: { type: 'string', description: 'The id of the recovery.' },
  webhookIds: {
    type: 'array',
    description: 'The webhooks whose deliveries are sent again. Some may have been removed since.',
    items: { type: 'integer' },
  },
  state: {
    enum: ['running', 'done', 'stopped'],
    description:
      '`done`: everything was sent that could be sent; the last attempts may still be in flight. `stopped`: by the account.',
  },
  startedAt: { ...TIME, description: 'When it was started.' },
  since: { ...TIME, description: 'It sends deliveries of events that were published at this time or later.' },
  until: { ...TIME, description: 'And before this time.' },
  include: { type: 'array', items: { enum: RECOVERABLE }, description: 'The kinds of deliveries that it sends.' },
  perSecond: whole('How many deliveries it sends in a second, at most.'),
  count: COUNT,
  sent: whole('How many deliveries it has sent again.'),
  delivered: whole('How many of these were delivered.'),
  failed: whole('How many of these were not delivered and have no further attempt.'),
  passedBy: {
    ...whole(
      'How many deliveries it could not send: their webhook is inactive or was removed, their payload is no longer kept, or they were sent again too often. Null before it is `done`.',
    ),
    type: ['integer', 'null'],
  },
} as const;

const RECOVERY_SCHEMA = {
  title: 'Recovery',
  description: 'A recovery and its progress.',
  type: 'object',
  required: Object.keys(RECOVERY),
  properties: RECOVERY,
} as const;

/** @throws ApiError 503 if there is no view now */
async function shownRecovery(accountId: number, { startedAt, ...recovery }: Recovery, view: AskView) {
  const { id, webhookIds, state, since, until, include, perSecond, count, passedBy } = recovery;
  const { sent, delivered, failed } = await viewAnswer(view, accountId, (known) => known.recovery(id));
  const request = { since, until, include, perSecond, count };
  return { id, webhookIds, state, startedAt, ...request, sent, delivered, failed, passedBy };
}

const RECOVERY_ID = pathId('The id of the recovery.');
const NOT_FOUND = refusal("The account has no recovery with this id. A webhook's last recovery is kept.");

const SHOW_RECOVERY: Operation = {
  id: 'showRecovery',
  ...READ,
  path: '/api/recoveries/{id}',
  tag: 'Deliveries',
  summary: 'Show a recovery',
  description: 'The state and progress of a recovery.',
  parameters: [RECOVERY_ID],
  responses: { 200: { description: 'The recovery.', schema: RECOVERY_SCHEMA }, 404: NOT_FOUND, 503: UNAVAILABLE },
};

const STOP_RECOVERY: Operation = {
  id: 'stopRecovery',
  ...WRITE,
  method: 'delete',
  path: '/api/recoveries/{id}',
  tag: 'Deliveries',
  summary: 'Stop a recovery',
  description: 'Ends a recovery that runs. Deliveries that it has sent again still make their attempt.',
  right: 'configure',
  parameters: [RECOVERY_ID],
  responses: {
    200: { description: 'The recovery has ended.', schema: RECOVERY_SCHEMA },
    404: NOT_FOUND,
    503: UNAVAILABLE,
  },
};

type OwnWebhooks = Pick<Accounts, 'webhooks' | 'webhooksNow'>;

export function showRecovery(accounts: OwnWebhooks, view: AskView, reading: Reading): Route {
  return readRoute(SHOW_RECOVERY, reading, async (accountId, ctx) => {
    const shown = await shownRecovery(accountId, await ownRecovery(ctx, accounts), view);
    return () => shown;
  });
}

export interface StopRecoveryParts {
  readonly accounts: OwnWebhooks;
  readonly view: AskView;
  readonly handleCommand: HandleCommand;
  readonly now: () => Date;
}

export function stopRecovery({ accounts, view, handleCommand, now }: StopRecoveryParts, { reads }: Reading): Route {
  return route(STOP_RECOVERY, async (ctx) => {
    const { accountId, actor } = callerOf(ctx);
    const command = { type: 'StopRecovery', recoveryId: String(ctx.params.id), at: now().toISOString() } as const;
    const decision = await handleCommand(accountId, command, commandContext(ctx, actor));
    mustBeAccepted(decision);
    // It stops whatever the account's reads have cost. Of one that had ended this is a read.
    if (!changes(decision)) await reads.turn(accountId);
    ctx.body = await shownRecovery(accountId, await ownRecovery(ctx, accounts), view);
  });
}

/** @throws ApiError 404 */
async function ownRecovery(ctx: Context, accounts: OwnWebhooks): Promise<Recovery> {
  const { accountId } = callerOf(ctx);
  const named = (known: Awaited<ReturnType<OwnWebhooks['webhooks']>>) =>
    known?.recoveries.find(({ id }) => id === ctx.params.id);
  // Another process may have started it.
  const found = named(await accounts.webhooks(accountId)) ?? named(await accounts.webhooksNow(accountId));
  if (!found) throw new ApiError(404, 'recovery not found');
  return found;
}

const LIST_RECOVERIES: Operation = {
  id: 'listRecoveries',
  ...READ,
  path: '/api/recoveries',
  tag: 'Deliveries',
  summary: 'List the recoveries',
  description:
    'The last recovery of each webhook, with its progress: those that run first, then the others, newest first.',
  responses: {
    200: {
      description: 'The recoveries.',
      schema: {
        title: 'RecoveryList',
        description: 'The last recovery of each webhook.',
        type: 'object',
        required: ['recoveries'],
        properties: { recoveries: { type: 'array', description: 'The recoveries.', items: RECOVERY_SCHEMA } },
      },
    },
    404: refusal('The account is not registered.'),
    503: UNAVAILABLE,
  },
};

export function listRecoveries(accounts: Pick<Accounts, 'webhooks'>, view: AskView, reading: Reading): Route {
  return readRoute(LIST_RECOVERIES, reading, async (accountId) => {
    const found = registered(await accounts.webhooks(accountId)).recoveries.toSorted(inOrder);
    const recoveries = await Promise.all(found.map((recovery) => shownRecovery(accountId, recovery, view)));
    return () => ({ recoveries });
  });
}

function inOrder(one: Recovery, other: Recovery): number {
  const isRunning = ({ state }: Recovery) => Number(state === 'running');
  return isRunning(other) - isRunning(one) || (one.startedAt < other.startedAt ? 1 : -1);
}

/** GET and DELETE /api/recoveries/{id}: the progress of a recovery, and its end. */
import type { Context } from 'koa';
import type { AskView } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { Recovery } from '../../webhooks/state.js';
import { ApiError } from '../api-error.js';
import { type Operation, type Parameter, READ, type Route, refusal, route } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { callerOf, commandContext } from '../request-context.js';
import { changes, mustBeAccepted } from '../webhooks/webhook-command.js';
import { RECOVERY_SCHEMA, shownRecovery } from './shown-recovery.js';
import { UNAVAILABLE } from './start-recovery.js';

const RECOVERY_ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the recovery.',
  schema: { type: 'string' },
};
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
  method: 'delete',
  path: '/api/recoveries/{id}',
  tag: 'Deliveries',
  summary: 'Stop a recovery',
  description: 'Ends a recovery that runs. Deliveries that it has put back still make their attempt.',
  security: 'bearer',
  right: 'configure',
  rateLimit: 'writes',
  parameters: [RECOVERY_ID],
  responses: {
    200: { description: 'The recovery has ended.', schema: RECOVERY_SCHEMA },
    404: NOT_FOUND,
    503: UNAVAILABLE,
  },
};

type Known = Pick<Accounts, 'webhooks' | 'webhooksNow'>;

export function showRecovery(accounts: Known, view: AskView, reading: Reading): Route {
  return readRoute(SHOW_RECOVERY, reading, async (accountId, ctx) => {
    const recovery = await ownRecovery(ctx, accounts);
    return () => shownRecovery(accountId, recovery, view);
  });
}

export interface StopRecoveryParts {
  readonly accounts: Known;
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
    const recovery = await ownRecovery(ctx, accounts);
    ctx.body = reads.timed(accountId, () => shownRecovery(accountId, recovery, view));
  });
}

/** @throws ApiError 404 */
async function ownRecovery(ctx: Context, accounts: Known): Promise<Recovery> {
  const { accountId } = callerOf(ctx);
  const named = (known: Awaited<ReturnType<Known['webhooks']>>) =>
    known?.recoveries.find(({ id }) => id === ctx.params.id);
  // Another process may have started it.
  const found = named(await accounts.webhooks(accountId)) ?? named(await accounts.webhooksNow(accountId));
  if (!found) throw new ApiError(404, 'recovery not found');
  return found;
}

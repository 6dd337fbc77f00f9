/** PATCH /api/webhooks/{id}: deactivates or reactivates a webhook. */
import type { Context } from 'koa';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import { MAX_ACTIVE_PER_TYPE } from '../../webhooks/limits.js';
import { fieldError } from '../api-error.js';
import { bodyCheck } from '../checked-body.js';
import { type Operation, refusal, TOO_MUCH, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { SUCCESS } from '../shared-schemas.js';
import type { HeldDeliveries } from './held-deliveries.js';
import { changes, mustBeAccepted, webhookIdOf } from './webhook-command.js';

export interface SetWebhookActiveBody {
  readonly isActive: boolean;
}

const setWebhookActiveSchema = {
  title: 'WebhookActivation',
  description: 'The requested state of a webhook.',
  type: 'object',
  required: ['isActive'],
  properties: {
    isActive: { type: 'boolean', description: 'True to send events to the webhook, false to stop sending them.' },
  },
} as const;

export const operation: Operation = {
  id: 'setWebhookActive',
  method: 'patch',
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Activate or deactivate a webhook',
  description:
    'Activates or deactivates a webhook. An inactive webhook keeps its id, URL and headers, and receives no events. Its waiting deliveries are cancelled when their next attempt is due. A webhook that the service deactivated (410, or no successful delivery for too long) is held instead: its deliveries become dead letters until it is active again, or until its account deactivates it.',
  security: 'bearer',
  right: 'configure',
  rateLimit: 'writes',
  parameters: [WEBHOOK_ID],
  body: { type: 'json', schema: setWebhookActiveSchema },
  responses: {
    200: {
      description:
        'The webhook is now in the requested state. Also returned if it already was. If deliveries are held for an activated webhook, `message` says how many, and how to send them.',
      schema: SUCCESS,
    },
    400: refusal(`\`isActive\` is not valid, or ${MAX_ACTIVE_PER_TYPE} other webhooks of the type are already active.`),
    404: WEBHOOK_NOT_FOUND,
    429: TOO_MUCH,
  },
};

const AT_LIMIT = fieldError('isActive', `can't be true: the type already has ${MAX_ACTIVE_PER_TYPE} active webhooks`);
const checked = bodyCheck<SetWebhookActiveBody>(setWebhookActiveSchema);

export function setWebhookActive(handleCommand: HandleCommand, heldDeliveries: HeldDeliveries, now: () => Date) {
  return async (ctx: Context): Promise<void> => {
    const { isActive } = checked(ctx.request.body);
    const { accountId, actor } = callerOf(ctx);
    const webhookId = webhookIdOf(ctx);
    const command = { type: 'SetWebhookActive', webhookId, isActive, at: now().toISOString() } as const;
    const decision = await handleCommand(accountId, command, commandContext(ctx, actor));
    mustBeAccepted(decision, AT_LIMIT);
    const held = isActive && changes(decision) ? heldDeliveries(accountId, webhookId) : '';
    ctx.body = { success: true, message: `webhook ${isActive ? 'activated' : 'deactivated'}${held}` };
  };
}

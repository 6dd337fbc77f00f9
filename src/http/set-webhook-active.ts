/** PATCH /api/webhooks/{id}: switches a webhook off and on again. */
import type { Context } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import { MAX_ACTIVE_PER_TYPE } from '../webhooks/limits.js';
import { fieldError } from './api-error.js';
import { bodyCheck } from './checked-body.js';
import { DONE, type Operation, refusal, WEBHOOK_ID } from './operation.js';
import { commandContext } from './request-context.js';
import { mustBeAccepted, webhookIdOf } from './webhook-command.js';

export interface SetWebhookActiveBody {
  readonly isActive: boolean;
}

export const setWebhookActiveSchema = {
  type: 'object',
  required: ['isActive'],
  properties: { isActive: { type: 'boolean' } },
} as const;

export const operation: Operation = {
  id: 'setWebhookActive',
  method: 'patch',
  path: '/api/webhooks/{id}',
  summary: 'Switches a webhook off, or on again.',
  security: 'bearer',
  rateLimit: 'writes',
  parameters: [WEBHOOK_ID],
  body: { type: 'json', schema: setWebhookActiveSchema },
  responses: {
    200: { description: 'It is as asked for, be it that it was so before.', schema: DONE },
    400: refusal(`isActive is not valid, or ${MAX_ACTIVE_PER_TYPE} others are active for the type.`),
    404: refusal('The account has no webhook of this id, or is not known.'),
  },
};

const AT_LIMIT = fieldError('isActive', `can't be true: the type has ${MAX_ACTIVE_PER_TYPE} active webhooks already`);
const checked = bodyCheck<SetWebhookActiveBody>(setWebhookActiveSchema);

export function setWebhookActive(handleCommand: HandleCommand, now: () => Date) {
  return async (ctx: Context): Promise<void> => {
    const { isActive } = checked(ctx.request.body);
    const { accountId, actor } = ctx.state.caller as Caller;
    const command = {
      type: 'SetWebhookActive',
      webhookId: webhookIdOf(ctx),
      isActive,
      at: now().toISOString(),
    } as const;
    mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)), AT_LIMIT);
    ctx.body = { success: true, message: isActive ? 'webhook activated' : 'webhook deactivated' };
  };
}

import type { HandleCommand } from '../../webhooks/handle-command.js';
import { type Operation, type Route, route, WEBHOOK_ID, WEBHOOK_NOT_FOUND, WRITE } from '../operation.js';
import { callerOf, commandContext } from '../request-context.js';
import { COUNT, counted } from '../shared-schemas.js';
import type { DeliveryCounts } from './held-deliveries.js';
import { mustBeAccepted, webhookIdOf } from './webhook-command.js';

const REMOVED = counted('cancelled', {
  ...COUNT,
  type: ['integer', 'null'],
  description: 'How many deliveries waited, as far as the list of deliveries knew. Null while that is rebuilt.',
});

const REMOVE_WEBHOOK: Operation = {
  id: 'removeWebhook',
  ...WRITE,
  method: 'delete',
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Remove a webhook',
  description:
    'Removes a webhook from the list. It receives no more events, and its waiting deliveries are cancelled: `cancelled` says how many.',
  right: 'configure',
  parameters: [WEBHOOK_ID],
  responses: {
    200: { description: 'The webhook is removed.', schema: REMOVED },
    404: WEBHOOK_NOT_FOUND,
  },
};

export function removeWebhook(handleCommand: HandleCommand, deliveryCounts: DeliveryCounts, now: () => Date): Route {
  return route(REMOVE_WEBHOOK, async (ctx) => {
    const { accountId, actor } = callerOf(ctx);
    const command = { type: 'RemoveWebhook', webhookId: webhookIdOf(ctx), at: now().toISOString() } as const;
    mustBeAccepted(await handleCommand(accountId, command, commandContext(ctx, actor)));
    const cancelled = deliveryCounts(accountId, command.webhookId)?.waiting ?? null;
    ctx.body = { success: true, message: 'webhook removed', cancelled };
  });
}

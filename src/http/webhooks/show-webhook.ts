import type { Sealing } from '../../secrets/sealing.js';
import { type Operation, READ, type Route, WEBHOOK_ID, WEBHOOK_NOT_FOUND } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { COUNT } from '../shared-schemas.js';
import type { DeliveryCounts } from './held-deliveries.js';
import type { OwnWebhook } from './own-webhook.js';
import { shownWebhook, valuesFor, WEBHOOK } from './shown-webhook.js';

const COUNTS = {
  waiting: { ...COUNT, description: 'They wait for another attempt. The removal of the webhook cancels them.' },
  held: { ...COUNT, description: 'They are held, since the service had deactivated the webhook.' },
  exhausted: { ...COUNT, description: 'They were given up after their last attempt.' },
} as const;

const DELIVERIES = {
  title: 'UndeliveredCounts',
  description: 'How many deliveries have not arrived. Null while the list of deliveries is rebuilt.',
  type: ['object', 'null'],
  required: Object.keys(COUNTS),
  properties: COUNTS,
} as const;

const SHOW_WEBHOOK: Operation = {
  id: 'showWebhook',
  ...READ,
  path: '/api/webhooks/{id}',
  tag: 'Webhooks',
  summary: 'Get a webhook',
  description: 'Returns one webhook of the account, active or not, and what its removal would end.',
  parameters: [WEBHOOK_ID],
  responses: {
    200: {
      description: 'The webhook.',
      schema: {
        title: 'OneWebhook',
        description: 'A webhook of the account.',
        type: 'object',
        required: ['webhook', 'deliveries'],
        properties: { webhook: WEBHOOK, deliveries: DELIVERIES },
      },
    },
    404: WEBHOOK_NOT_FOUND,
  },
};

export function showWebhook(
  ownWebhook: OwnWebhook,
  sealing: Sealing,
  deliveryCounts: DeliveryCounts,
  reading: Reading,
): Route {
  return readRoute(SHOW_WEBHOOK, reading, async (accountId, ctx) => {
    const { webhook } = await ownWebhook(ctx);
    return () => ({
      webhook: shownWebhook(accountId, webhook, valuesFor(ctx, sealing)),
      deliveries: deliveryCounts(accountId, webhook.id),
    });
  });
}

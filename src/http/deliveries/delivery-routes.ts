/** The routes of deliveries. */
import type { Logger } from '../../observability/logger.js';
import type { CancelDelivery, SendAgain } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Reading } from '../read-answer.js';
import { createOwnWebhook } from '../webhooks/webhook-command.js';
import { listDeliveries } from './list-deliveries.js';
import { cancelDelivery, resendDelivery } from './resend-delivery.js';
import { type ShowDeliveryParts, showDelivery } from './show-delivery.js';

export interface DeliveryParts extends ShowDeliveryParts {
  readonly accounts: Accounts;
  readonly sendAgain: SendAgain;
  readonly cancel: CancelDelivery;
  readonly logger: Logger;
}

export function deliveryRoutes(parts: DeliveryParts, reading: Reading) {
  const { accounts, view, logger } = parts;
  return [
    ...listDeliveries({ ...parts, ownWebhook: createOwnWebhook(accounts) }, reading),
    showDelivery(parts, reading),
    resendDelivery(view, parts.sendAgain, logger, reading.reads),
    cancelDelivery(view, parts.cancel, logger, reading.reads),
  ];
}

/** The routes of deliveries. */
import type { Logger } from '../../observability/logger.js';
import type { CancelDelivery, SendAgain } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { Admission } from '../admission.js';
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

export function deliveryRoutes(parts: DeliveryParts, admission: Admission) {
  const { accounts, view, logger } = parts;
  return [
    ...listDeliveries({ ...parts, ownWebhook: createOwnWebhook(accounts) }, admission),
    showDelivery(parts, admission),
    resendDelivery(view, parts.sendAgain, logger, admission),
    cancelDelivery(view, parts.cancel, logger, admission),
  ];
}

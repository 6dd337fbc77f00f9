/** The routes of /api/webhooks, without those of deliveries and recoveries. */
import type { Logger } from '../../observability/logger.js';
import type { AskView } from '../../ports/deliveries-view.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { HandleCommand } from '../../webhooks/handle-command.js';
import type { Admission } from '../admission.js';
import { moveWebhooks, removeWebhook, updateWebhook } from './change-webhook.js';
import { listWebhooks, type Past } from './list-webhooks.js';
import { type RegisterWebhookParts, registerWebhook } from './register-webhook.js';
import { type DeliveryCounts, showWebhook } from './show-webhook.js';
import { type SendTest, testWebhook } from './test-webhook.js';
import { createOwnWebhook } from './webhook-command.js';
import { showWebhooksHealth } from './webhooks-health.js';

export interface WebhookParts extends RegisterWebhookParts, Past {
  readonly accounts: Accounts;
  readonly view: AskView;
  readonly handleCommand: HandleCommand;
  /** DEACTIVATE_AFTER; 0: never. */
  readonly deactivateAfterMs: number;
  readonly deliveryCounts: DeliveryCounts;
  readonly sendTest: SendTest;
  readonly logger: Logger;
}

export function webhookRoutes(parts: WebhookParts, admission: Admission) {
  const { accounts, sealing, handleCommand, deliveryCounts, now } = parts;
  const ownWebhook = createOwnWebhook(accounts);
  return [
    registerWebhook(parts),
    listWebhooks(accounts, sealing, parts, admission),
    // Before the routes of /api/webhooks/{id}: they would be ids.
    showWebhooksHealth(parts, parts.deactivateAfterMs, admission),
    moveWebhooks(parts, handleCommand, now),
    showWebhook(ownWebhook, sealing, deliveryCounts, admission),
    updateWebhook(parts, handleCommand, parts.heldDeliveries, now),
    removeWebhook(handleCommand, deliveryCounts, now),
    testWebhook(ownWebhook, parts.sendTest, parts.logger),
  ];
}

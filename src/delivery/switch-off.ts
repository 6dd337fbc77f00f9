/** After a 410 its webhook is deactivated, before the delivery's next step is decided: the step depends on it. A notice ends. */
import type { Accounts } from '../read-model/accounts.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import type { Webhook } from '../webhooks/state.js';
import type { AttemptResult } from './attempt/attempt.js';
import type { Delivery } from './delivery.js';
import { aboutDelivery, correlationIdOf, type DeliveryTelling } from './delivery-telling.js';
import { lastFailureOf } from './endpoint-health.js';
import type { OffBy } from './recipient.js';

export interface SwitchOffParts extends DeliveryTelling {
  readonly accounts: Pick<Accounts, 'webhook'>;
  readonly handleCommand: HandleCommand;
}

/**
 * @param webhook as it was sent to
 * @returns null if the store was unavailable, the account is unreadable, or the webhook changed during the request
 */
export async function switchedOffBy(
  { logger, handleCommand, accounts, now }: SwitchOffParts,
  delivery: Delivery,
  { id: webhookId, version }: Webhook,
  made: AttemptResult,
): Promise<OffBy | null> {
  const { accountId, id: requestId, trace, isNotice } = delivery;
  if (isNotice) return 'account';
  const about = aboutDelivery({ ...delivery, attempts: delivery.attempts + 1 });
  const why = { reason: 'the endpoint answered 410 Gone', lastFailure: lastFailureOf(made) };
  const command = { type: 'DeactivateWebhook', webhookId, version, ...why, at: new Date(now()).toISOString() } as const;
  const context = { actor: 'dispatcher', requestId, correlationId: correlationIdOf(delivery), trace };
  try {
    const decision = await handleCommand(accountId, command, context);
    const deactivated = decision.kind === 'accepted' && decision.events.length > 0;
    logger.warn({ ...about, deactivated }, 'an endpoint answered 410 Gone');
  } catch (err) {
    logger.error({ err, ...about }, 'a webhook could not be deactivated; the next 410 tries again');
    return null;
  }
  const current = accounts.webhook(accountId, webhookId);
  // During the request the account may have removed or deactivated the webhook.
  if (!current) return 'removal';
  if (current.isActive && current.version > version) return null;
  return current.isActive || current.offBy === 'service' ? 'service' : 'account';
}

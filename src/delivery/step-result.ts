/**
 * Converts an attempt's result to its delivery's step result. After a 410 the webhook is deactivated first: the step
 * depends on it.
 */
import type { Accounts } from '../read-model/accounts.js';
import { responsePlace, type Sealing } from '../secrets/sealing.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import type { Webhook } from '../webhooks/state.js';
import type { AttemptResult } from './attempt/attempt.js';
import type { Delivery } from './delivery.js';
import { aboutDelivery, correlationIdOf, type DeliveryTelling } from './delivery-telling.js';
import { lastFailureOf } from './isolation/endpoint-health.js';
import type { Refused } from './isolation/gate-endpoints.js';
import { loggedAttempt } from './log/log-entry.js';
import type { StepResult } from './next-step.js';
import type { OffBy } from './recipient.js';

export interface StepResultParts extends DeliveryTelling {
  readonly accounts: Pick<Accounts, 'webhook' | 'unreadable'>;
  readonly handleCommand: HandleCommand;
  readonly sealing: Pick<Sealing, 'seal'>;
}

const INTERRUPTED_BY = { stop: 'stopping', stall: 'stalled', shortage: 'not-prepared' } as const;

/** @param attempted null: the attempt could not start, which is our fault */
export async function resultOf(
  parts: StepResultParts,
  delivery: Delivery,
  webhook: Webhook,
  attempted: AttemptResult | null,
): Promise<StepResult> {
  if (attempted === null) return { kind: 'parked', why: 'not-prepared', isSoon: true };
  if (attempted.kind === 'interrupted') return { kind: 'parked', why: INTERRUPTED_BY[attempted.by], isSoon: true };
  parts.metrics.attempted(attempted);
  const { at, response } = attempted;
  const { accountId, id } = delivery;
  // A receiver may echo the headers of its request, which are secrets.
  const sealed =
    response === undefined
      ? undefined
      : parts.sealing.seal(response, responsePlace(accountId, id, new Date(at).toISOString()));
  const attempt = loggedAttempt(attempted, webhook.version, delivery, sealed);
  switch (attempted.kind) {
    case 'delivered':
      return { kind: 'delivered', attempt };
    case 'retryable':
      return { kind: 'failed', attempt, retryAfterMs: attempted.retryAfterMs };
    case 'gone': {
      const by = await switchedOffBy(parts, { ...delivery, attempts: delivery.attempts + 1 }, webhook, attempted);
      return by ? { kind: 'switched-off', by, attempt } : { kind: 'failed', attempt, retryAfterMs: null };
    }
    default:
      return attempted satisfies never;
  }
}

/**
 * Null if the store was unavailable, the account is unreadable, or the webhook changed during the request: the old one
 * is gone.
 */
async function switchedOffBy(
  parts: StepResultParts,
  delivery: Delivery,
  webhook: Webhook,
  attempted: AttemptResult,
): Promise<OffBy | null> {
  const { logger, handleCommand, accounts } = parts;
  const { accountId, id: requestId, trace } = delivery;
  const { id: webhookId, version } = webhook;
  const reason = 'the endpoint answered 410 Gone';
  const [lastFailure, at] = [lastFailureOf(attempted), new Date(parts.now()).toISOString()];
  const command = { type: 'DeactivateWebhook', webhookId, version, reason, lastFailure, at } as const;
  const context = { actor: 'dispatcher', requestId, correlationId: correlationIdOf(delivery), trace };
  try {
    const decision = await handleCommand(accountId, command, context);
    const deactivated = decision.kind === 'accepted' && decision.events.length > 0;
    logger.warn({ ...aboutDelivery(delivery), deactivated }, 'an endpoint answered 410 Gone');
  } catch (error) {
    const logFields = { err: error, ...aboutDelivery(delivery) };
    logger.error(logFields, 'a webhook could not be deactivated; the next 410 tries again');
    return null;
  }
  if (accounts.unreadable(accountId) !== null) return null;
  const now = accounts.webhook(accountId, webhookId);
  if (now?.isActive && now.version > version) return null;
  // During the request the account may have removed or deactivated the webhook.
  if (!now) return 'removal';
  return now.isActive || now.offBy === 'service' ? 'service' : 'account';
}

const PARK_REASON_OF = { 'line-full': 'line-full', open: 'breaker-open', closed: 'stopping' } as const;

/** For a refusal at the gate. */
export function resultOfRefusal({ why, isTaking }: Refused): StepResult {
  return { kind: 'parked', why: PARK_REASON_OF[why], isSoon: (why === 'line-full' && isTaking) || why === 'closed' };
}

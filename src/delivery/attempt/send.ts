/** A delivery's attempt: opens the webhook's configuration and sends the payment's bytes. */
import type { Logger } from '../../observability/logger.js';
import type { Webhook } from '../../webhooks/state.js';
import type { Delivery } from '../delivery.js';
import { aboutDelivery } from '../delivery-telling.js';
import type { EndpointSignal } from '../isolation/endpoint-breakers.js';
import { contentOf } from '../payment/cloud-event-attributes.js';
import type { Attempt, AttemptResult } from './attempt.js';
import type { DeliverySecrets } from './delivery-secrets.js';

export interface SendParts {
  readonly configuration: DeliverySecrets;
  readonly attempt: Attempt;
  readonly logger: Logger;
  /** Aborted when attempts in progress must end. */
  readonly interrupt: AbortSignal;
}

/** Null if the attempt could not start: the fault is ours (keys, store), and no attempt is counted. */
export async function send(parts: SendParts, delivery: Delivery, webhook: Webhook): Promise<AttemptResult | null> {
  const { accountId, id, record, trace, lastSpan: previous, cloudEvent } = delivery;
  const { interrupt: signal } = parts;
  try {
    const headers = parts.configuration.headers(accountId, webhook);
    const secrets = await parts.configuration.secrets(accountId);
    const body = record.value ?? Buffer.alloc(0);
    const sent = { body, ...(cloudEvent && { content: contentOf(cloudEvent, record) }) };
    return await parts.attempt({
      accountId,
      url: webhook.endpoint,
      id,
      ...sent,
      headers,
      secrets,
      signal,
      trace,
      previous,
    });
  } catch (error) {
    const about = aboutDelivery(delivery);
    parts.logger.error({ err: error, ...about }, 'a delivery could not be prepared; it will be retried');
    return null;
  }
}

export function inTraceOf(delivery: Delivery, attempted: AttemptResult | null): Delivery {
  if (!attempted || attempted.kind === 'interrupted') return delivery;
  const { span } = attempted;
  return { ...delivery, trace: delivery.trace ?? span ?? null, lastSpan: span?.spanId ?? null };
}

/** A 410 is neither: the webhook is gone, not the endpoint. */
export function signalOf(attempted: AttemptResult | null): EndpointSignal {
  if (attempted?.kind === 'delivered') return 'succeeded';
  if (attempted?.kind !== 'retryable') return 'unknown';
  if (attempted.error === null || attempted.failedIn === undefined) return 'failed';
  return attempted.failedIn === 'handshake' ? 'tls-failed' : 'unreachable';
}

/** An attempt: opens the configuration of its target, and sends. */
import type { Logger } from '../../observability/logger.js';
import type { Webhook } from '../../webhooks/state.js';
import type { Delivery } from '../delivery.js';
import { aboutDelivery } from '../delivery-telling.js';
import type { EndpointSignal } from '../isolation/circuit-breaker.js';
import { contentOf } from '../payment/cloud-event-attributes.js';
import type { Attempt, AttemptRequest, AttemptResult } from './attempt.js';
import type { DeliverySecrets } from './delivery-secrets.js';

const NOTHING = Buffer.alloc(0);

export interface SendParts {
  readonly configuration: DeliverySecrets;
  readonly attempt: Attempt;
  readonly logger: Logger;
  /** Aborted when attempts in progress must end. */
  readonly interrupt: AbortSignal;
}

export function send(parts: SendParts, delivery: Delivery, webhook: Webhook): Promise<AttemptResult | null> {
  const { accountId, id, record, trace, lastSpan: previous, cloudEvent } = delivery;
  const content = cloudEvent ? contentOf(cloudEvent, record) : undefined;
  const unsigned = { accountId, id, body: record.value ?? NOTHING, content, trace, previous };
  return sendTo(parts, webhook, unsigned, (err) =>
    parts.logger.error({ err, ...aboutDelivery(delivery) }, 'a delivery could not be prepared; it will be retried'),
  );
}

/** Null if the attempt could not start: the fault is ours (keys, store), and no attempt is counted. */
export async function sendTo(
  { configuration, attempt, interrupt: signal }: SendParts,
  target: Pick<Webhook, 'endpoint' | 'headers'>,
  unsigned: Omit<AttemptRequest, 'url' | 'headers' | 'secrets' | 'signal'>,
  notPrepared: (error: unknown) => void,
): Promise<AttemptResult | null> {
  try {
    const headers = configuration.headers(unsigned.accountId, target);
    const secrets = await configuration.secrets(unsigned.accountId);
    return await attempt({ ...unsigned, url: target.endpoint, headers, secrets, signal });
  } catch (error) {
    notPrepared(error);
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

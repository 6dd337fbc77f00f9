/** Builds the sender of deliveries and test events from the settings. */
import { type Attempt, createAttempt, tracedAttempt } from '../delivery/attempt/attempt.js';
import { createEndpointAgent } from '../endpoints/endpoint-agent.js';
import { fairLookup } from '../endpoints/fair-lookup.js';
import { lookupAll } from '../endpoints/resolve.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import type { Config } from '../settings/config.js';
import { deliveryTrust } from './delivery-trust.js';

interface AttemptParts {
  readonly config: Config;
  readonly tracing: Tracing;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export function openAttempt({ config, tracing, metrics, logger }: AttemptParts): {
  readonly attempt: Attempt;
  /** Ends every connection. */
  readonly close: () => Promise<void>;
} {
  const { allowPrivateEndpoints: allowPrivate, deniedAddresses: denied, timeoutMs } = config.delivery;
  const { connected } = metrics.delivery;
  const rules = { allowPrivate, ...(denied && { denied }), lookup: fairLookup(lookupAll) };
  const secureContext = deliveryTrust(config);
  const agent = createEndpointAgent({ ...rules, connectTimeoutMs: timeoutMs, connected, secureContext });
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'account-webhooks', logger });
  return { attempt: tracedAttempt(attempt, tracing, Math.random), close: () => agent.destroy() };
}

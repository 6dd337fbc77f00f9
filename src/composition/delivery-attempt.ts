/** Builds the sender of deliveries and test events from the settings. */
import { type Attempt, createAttempt } from '../delivery/attempt/attempt.js';
import { tracedAttempt } from '../delivery/attempt/traced-attempt.js';
import { createEndpointAgent } from '../endpoints/endpoint-agent.js';
import type { Core, Stop } from './core.js';

/** Has its own connections. */
export function openAttempt({ config, lookup, secureContext, tracing, metrics }: Core, stops: Stop[]): Attempt {
  const { allowPrivateEndpoints: allowPrivate, deniedAddresses: denied, timeoutMs } = config.delivery;
  const { connected } = metrics.delivery;
  const rules = { allowPrivate, ...(denied && { denied }) };
  const agent = createEndpointAgent({ ...rules, connectTimeoutMs: timeoutMs, lookup, connected, secureContext });
  stops.push(() => agent.destroy());
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'account-webhooks' });
  return tracedAttempt(attempt, tracing, Math.random);
}

/** What sends deliveries and test events, by the settings. */
import { type Attempt, createAttempt } from '../delivery/attempt/attempt.js';
import { tracedAttempt } from '../delivery/attempt/traced-attempt.js';
import { createEndpointAgent } from '../endpoints/endpoint-agent.js';
import { certificatesFrom, clientCertificateFrom } from '../setting-files.js';
import type { Core, Stop } from './core.js';

/** With connections of its own. @throws InvalidConfig for files that can't be read */
export function openAttempt({ config, lookup, tracing, metrics }: Core, stops: Stop[]): Attempt {
  const { allowPrivateEndpoints, timeoutMs, caFile, clientCertFile, clientKeyFile } = config.delivery;
  const agent = createEndpointAgent({
    allowPrivate: allowPrivateEndpoints,
    connectTimeoutMs: timeoutMs,
    lookup,
    connected: metrics.delivery.connected,
    ...(caFile !== null && { ca: certificatesFrom('DELIVERY_CA_FILE', caFile) }),
    ...clientCertificateFrom(clientCertFile, clientKeyFile),
  });
  stops.push(() => agent.destroy());
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'account-webhooks' });
  return tracedAttempt(attempt, tracing, Math.random);
}

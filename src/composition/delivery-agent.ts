/** The HTTP client of deliveries and test events, by the settings. */
import { createEndpointAgent, type EndpointAgent } from '../endpoints/endpoint-agent.js';
import { certificatesFrom, clientCertificateFrom } from '../setting-files.js';
import type { Core, Stop } from './core.js';

/** @throws InvalidConfig for files that can't be read */
export function openDeliveryAgent({ config, lookup }: Core, stops: Stop[]): EndpointAgent {
  const { allowPrivateEndpoints, timeoutMs, caFile, clientCertFile, clientKeyFile } = config.delivery;
  const agent = createEndpointAgent({
    allowPrivate: allowPrivateEndpoints,
    connectTimeoutMs: timeoutMs,
    lookup,
    ...(caFile !== null && { ca: certificatesFrom('DELIVERY_CA_FILE', caFile) }),
    ...clientCertificateFrom(clientCertFile, clientKeyFile),
  });
  stops.push(() => agent.destroy());
  return agent;
}

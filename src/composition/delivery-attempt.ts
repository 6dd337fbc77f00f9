/** Builds the sender of deliveries and test events from the settings, and the certificates that it trusts and shows. */
import { createAttempt, tracedAttempt } from '../delivery/attempt/attempt.js';
import { type AgentOptions, EndpointAgent } from '../endpoints/endpoint-agent.js';
import { lookupAll } from '../endpoints/guarded-lookup.js';
import { NameResolver } from '../endpoints/name-resolver.js';
import { SystemLookups } from '../endpoints/system-lookups.js';
import { certificatesIn } from '../host/pem-certificates.js';
import type { ClientCertificate } from '../http/shared-schemas.js';
import type { Logger } from '../observability/logger.js';
import type { DeliveryMetrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import { type Config, nodeExtraCaFile } from '../settings/read-config.js';
import { certificatesFrom, clientCertificateFrom, droppedCertificates } from '../settings/setting-files.js';
import type { DeliveryMemory } from './delivery-memory.js';

/** Of deliveries and test events. */
export interface Connections {
  /** Told what the agent's options say of each. */
  watcher: Required<Pick<AgentOptions, 'connected' | 'disconnected' | 'freed'>> | null;
  /** To the URL: so many attempts at once need no handshake. */
  readonly idleTo: (url: string) => number;
}

interface Watching {
  readonly tracing: Tracing | null;
  readonly metrics: DeliveryMetrics;
  readonly logger: Logger;
}

/** `close` ends every connection. @throws InvalidConfig for unreadable files */
export function openAttempt(config: Config, memory: DeliveryMemory, { tracing, metrics, logger }: Watching) {
  const { ALLOW_PRIVATE_ENDPOINTS: allowPrivate, DENIED_ADDRESSES: denied, DELIVERY_TIMEOUT: timeoutMs } = config;
  const names = nameResolver(config);
  const rules = { allowPrivate, ...(denied && { denied }), lookup: names.lookup };
  const connections: Connections = { watcher: null, idleTo: (url) => agent.idleTo(url) };
  const connected = (accountId: number, url: string) => {
    metrics.connected();
    connections.watcher?.connected(accountId, url);
  };
  const disconnected = (accountId: number, url: string) => connections.watcher?.disconnected(accountId, url);
  const freed = (accountId: number, url: string) => connections.watcher?.freed(accountId, url);
  const watched = { connected, disconnected, freed };
  const limits = { mostIdle: memory.idleConnections, mostSessions: memory.tlsSessions, connectTimeoutMs: timeoutMs };
  const agent = new EndpointAgent({ ...rules, ...certificates(config), ...watched, ...limits });
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'account-webhooks', logger });
  const close = async () => {
    names.close();
    await agent.destroy();
  };
  return { attempt: tracing ? tracedAttempt(attempt, tracing) : attempt, connections, close };
}

const MAX_RESOLVE_MS = 5_000;

function nameResolver({ ALLOW_PRIVATE_ENDPOINTS, DELIVERY_TIMEOUT }: Config): NameResolver {
  return new NameResolver({
    limitMs: Math.min(MAX_RESOLVE_MS, DELIVERY_TIMEOUT / 2),
    now: () => performance.now(),
    ...(ALLOW_PRIVATE_ENDPOINTS && { system: new SystemLookups(lookupAll) }),
  });
}

function certificates(config: Config) {
  const { DELIVERY_CA_FILE: caFile } = config;
  const authorities = (file: string) => [
    certificatesFrom('DELIVERY_CA_FILE', file),
    droppedCertificates(nodeExtraCaFile()),
  ];
  return {
    ...(caFile !== null && { ca: authorities(caFile).join('\n') }),
    ...clientCertificateFrom(config, 'DELIVERY'),
  };
}

/** What deliveries show. Hazard: the file may hold its key as well. @throws InvalidConfig for unreadable files */
export function shownCertificate(config: Config): ClientCertificate | null {
  const chain = certificatesIn(clientCertificateFrom(config, 'DELIVERY').cert ?? '');
  const [first] = chain;
  if (!first) return null;
  const { subject, issuer, fingerprint256: fingerprint, validFrom, validTo } = first;
  const time = (text: string) => new Date(text).toISOString();
  return { subject, issuer, fingerprint, validFrom: time(validFrom), validTo: time(validTo), pem: chain.join('') };
}

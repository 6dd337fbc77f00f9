/** Deliveries use no forward proxy: the check of a receiver's address would be the proxy's. So a variable for one is ignored. */
import type { Config } from './config.js';

const PROXIES = /^(https?|all)_proxy$|^NODE_USE_ENV_PROXY$/i;

export function proxyVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(environment).filter((name) => PROXIES.test(name) && environment[name]);
}

/** What is ignored, and what a firewall must let through; null if no proxy is set. */
export function ignoredProxy({ proxyVariables: set, ...config }: Config): { says: string; todo: string } | null {
  if (set.length === 0) return null;
  const ports = config.delivery.allowedPorts.map(({ from, to }) => (from === to ? from : `${from}-${to}`));
  const urls = { AUTH_JWKS_URL: config.auth.jwksUrl, OTEL_EXPORTER_OTLP_ENDPOINT: config.tracing.endpoint };
  const others = Object.entries(urls).flatMap(([key, url]) => (url === null ? [] : [key]));
  const to = [`receivers (ports ${ports.join(', ')})`, ...others].join(', and to ');
  return {
    says: `deliveries use no forward proxy: ${set.join(', ')} is ignored`,
    todo: `allow this machine, in the firewall, to connect to ${to}`,
  };
}

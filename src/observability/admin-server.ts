/**
 * The admin port, for supervisors and Prometheus: /health/live (the process answers), /health/ready (the process does
 * its work, or which part does not and why) and /metrics.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExposedMetrics } from './metrics.js';
import type { Readiness } from './readiness.js';

const LIMITS = {
  /** How long a connection may stall: by default Node lets a client keep an unread response forever. */
  stallMs: 30_000,
  /** Time for a whole request. Node's default is five minutes. */
  requestMs: 10_000,
  /** How often Node checks for slow requests. */
  lookEveryMs: 1_000,
};
/** Connections above it are closed on arrival: the descriptors are also those of deliveries. */
const MOST_CONNECTIONS = 1_000;

export type AdminServer = Awaited<ReturnType<typeof startAdminServer>>;

export interface AdminParts {
  readonly readiness: Pick<Readiness, 'report'>;
  readonly metrics: Pick<ExposedMetrics, 'contentType' | 'text'>;
}

type Answer = { readonly status: number; readonly type: string; readonly body: string };

/** @throws the error of listen, if the port is not available */
export async function startAdminServer(
  host: string,
  port: number,
  parts: AdminParts,
  { stallMs, requestMs, lookEveryMs } = LIMITS,
) {
  const options = { headersTimeout: requestMs, requestTimeout: requestMs, connectionsCheckingInterval: lookEveryMs };
  const server = createServer(options, (request, response) => {
    const { status, type, body } = answer(request.url ?? '', parts);
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : body);
  });
  server.timeout = stallMs;
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, host);
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  };
  return { port: (server.address() as AddressInfo).port, close };
}

/** Never throws. */
function answer(url: string, { readiness, metrics }: AdminParts): Answer {
  try {
    // The target may be in absolute form (RFC 9112 3.2.2).
    switch (url.replace(/^https?:\/\/[^/?]*/i, '').split('?')[0]) {
      case '/health/live':
        return json(200, { status: 'live' });
      case '/health/ready': {
        const { ready, body } = readiness.report();
        return json(ready ? 200 : 503, body);
      }
      case '/metrics':
        return { status: 200, type: metrics.contentType, body: metrics.text() };
      default:
        return json(404, { status: 'not found' });
    }
  } catch {
    return json(500, { status: 'unavailable' });
  }
}

function json(status: number, body: object): Answer {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}

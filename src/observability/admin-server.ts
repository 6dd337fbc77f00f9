/** The admin port: /health/live (the process answers) and /health/ready (it does its work), for supervisors. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How long a connection may stand still: by itself Node lets a client keep what it does not read for ever. */
const STALL_MS = 30_000;

/** The parts that are not ready yet, by name; none: ready. */
export type NotReady = () => readonly string[];

export interface AdminServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws the error of listen, where the port can't be had */
export async function startAdminServer(
  host: string,
  port: number,
  notReady: NotReady,
  stallMs = STALL_MS,
): Promise<AdminServer> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? '', notReady);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : JSON.stringify(body));
  });
  server.timeout = stallMs;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => closed(server) };
}

function answer(url: string, notReady: NotReady): [status: number, body: object] {
  const path = url.split('?')[0];
  if (path === '/health/live') return [200, { status: 'live' }];
  if (path !== '/health/ready') return [404, { status: 'not found' }];
  const waitingFor = notReady();
  return waitingFor.length === 0 ? [200, { status: 'ready' }] : [503, { status: 'not ready', waitingFor }];
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

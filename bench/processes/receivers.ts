/**
 * HTTPS receivers that count: as cheap as can be, so that the sender is what is measured. A path that begins with /hang
 * is never answered, and one that begins with /after and a number after so many ms. From `timed` on, each arrival is recorded.
 * During an outage, everything gets a 503.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { answerParent } from '../support/child.js';
import { machineMs } from '../support/clock.js';
import { MessageCutter } from '../support/http-message.js';
import { publishedAt } from '../support/payments.js';

/** As a usual server would say it. */
const ANSWER = [
  'HTTP/1.1 200 OK',
  'content-type: application/json; charset=utf-8',
  'date: Sat, 21 Nov 2026 09:00:00 GMT',
  'connection: keep-alive',
  'content-length: 17',
  '',
  '{"received":true}',
];
const OK = Buffer.from(ANSWER.join('\r\n'));
const UNAVAILABLE = Buffer.from('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n');
const PATH = /^POST (\S+)/;
const AFTER = /^POST \/after(\d+)/;

export interface Sample {
  /** machineMs */
  readonly at: number;
  /** Requests that came in full and were answered. */
  readonly answered: number;
  /** And those that were left hanging. */
  readonly hanging: number;
}

/** A delivery that got a 503. */
export interface Rejection {
  readonly path: string;
  /** machineMs */
  readonly publishedAt: number;
}

/** A delivery that got a 2xx. */
export interface Arrival extends Rejection {
  /** machineMs */
  readonly at: number;
  /** An attempt of the same delivery got a 503: it is due by the schedule of retries. */
  readonly wasRejected: boolean;
}

let answered = 0;
let hanging = 0;
let arrivals: Arrival[] | null = null;
let isOutage = false;
/** By path and time of publication. */
const rejected = new Map<string, Rejection>();

export const handlers = {
  /** @param ports 0 is a free one @returns those it listens on */
  listen: async ({ ports, cert, key }: { ports: number[]; cert: string; key: string }): Promise<number[]> => {
    // One TLS context: with one per port, thousands of ports take too much memory.
    const tls = createServer({ cert, key }, serve);
    const servers = ports.map((port) => {
      return createTcpServer((socket) => tls.emit('connection', socket)).listen(port, '127.0.0.1');
    });
    await Promise.all(servers.map((server) => once(server, 'listening')));
    return servers.map((server) => (server.address() as AddressInfo).port);
  },
  sample: (): Sample => ({ at: machineMs(), answered, hanging }),
  /** From now on arrivals are recorded. */
  timed: (): void => {
    arrivals = [];
  },
  /** ms since publication of the arrivals since the last call. */
  latencies: (): number[] => (arrivals?.splice(0) ?? []).map(({ at, publishedAt }) => at - publishedAt),
  /** Since the last call. */
  arrivals: (): Arrival[] => arrivals?.splice(0) ?? [],
  /** @returns the deliveries that got a 503 in all outages so far */
  outage: (starts: boolean): Rejection[] => {
    isOutage = starts;
    return [...rejected.values()];
  },
};

function serve(socket: TLSSocket): void {
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  const cutter = new MessageCutter((head, body) => {
    if (head.startsWith('POST /hang')) {
      hanging += 1;
      return;
    }
    const afterMs = Number(AFTER.exec(head)?.[1] ?? 0);
    if (afterMs > 0) setTimeout(answer, afterMs, socket, head, body);
    else answer(socket, head, body);
  });
  socket.on('data', (chunk: Buffer) => cutter.add(chunk));
}

function answer(socket: TLSSocket, head: string, body: Buffer): void {
  if (arrivals) recordArrival(arrivals, head, publishedAt(body));
  if (!isOutage) answered += 1;
  if (socket.writable) socket.write(isOutage ? UNAVAILABLE : OK);
}

function recordArrival(into: Arrival[], head: string, published: number): void {
  const [, path = ''] = PATH.exec(head) ?? [];
  const delivery = `${path} ${published}`;
  if (isOutage) rejected.set(delivery, { path, publishedAt: published });
  else into.push({ at: machineMs(), publishedAt: published, path, wasRejected: rejected.has(delivery) });
}

answerParent(handlers);

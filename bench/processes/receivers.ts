/**
 * HTTPS receivers that count: as cheap as can be, so that the sender is what is measured. A path that begins with /hang
 * is never answered, and one that begins with /after and a number after so many ms. Sent from /timed on, what was answered is
 * also kept with the time it took since it was published.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
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
const AFTER = /^POST \/after(\d+)/;

export interface Sample {
  /** machineMs */
  readonly at: number;
  /** Requests that came in full and were answered. */
  readonly answered: number;
  /** And those that were left hanging. */
  readonly hanging: number;
}

let answered = 0;
let hanging = 0;
let latencies: number[] | null = null;

export const handlers = {
  /** @param ports 0 is a free one @returns those it listens on */
  listen: async ({ ports, cert, key }: { ports: number[]; cert: string; key: string }): Promise<number[]> => {
    const servers = ports.map((port) => createServer({ cert, key }, serve).listen(port, '127.0.0.1'));
    await Promise.all(servers.map((server) => once(server, 'listening')));
    return servers.map((server) => (server.address() as AddressInfo).port);
  },
  sample: (): Sample => ({ at: machineMs(), answered, hanging }),
  /** From now on times are kept. */
  timed: (): void => {
    latencies = [];
  },
  /** ms since publication of what was answered since the last call. */
  latencies: (): number[] => latencies?.splice(0) ?? [],
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
    if (afterMs > 0) setTimeout(answer, afterMs, socket, body);
    else answer(socket, body);
  });
  socket.on('data', (chunk: Buffer) => cutter.add(chunk));
}

function answer(socket: TLSSocket, body: Buffer): void {
  latencies?.push(machineMs() - publishedAt(body));
  answered += 1;
  if (socket.writable) socket.write(OK);
}

answerParent(handlers);

/**
 * The test server as a process that can't be told from a real one by who starts it: its /gossip is HTTP/1 on the port
 * of its gRPC, and its log is a file, written before an append is answered. Projections don't outlive the process.
 */

import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { startEventStore } from './event-store-server.js';
import { StoredData, type StoredEvent } from './stored-data.js';

const HOST = '127.0.0.1';
/** The first bytes of HTTP/2 (RFC 9113, section 3.4). */
const PREFACE = 'PRI';

export async function serveAsProgram(port: number, folder: string): Promise<void> {
  // Of the system's choice: one of those for tests (free-port.js) may be the port that this program was given.
  const { port: grpc } = await startEventStore({ port: 0, data: keptIn(join(folder, 'log.ndjson')) });
  const leader = { state: 'Leader', isAlive: true, httpEndPointIp: HOST, httpEndPointPort: port };
  const gossip = createHttpServer((_, response) => response.end(JSON.stringify({ members: [leader] })));
  const http = await listening(gossip, 0);
  await listening(createServer(passOn({ grpc, http })), port);
}

async function listening(server: Server, port: number): Promise<number> {
  server.listen(port, HOST);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function passOn(ports: { readonly grpc: number; readonly http: number }) {
  return (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (first) => {
      const isGrpc = first.toString('latin1', 0, PREFACE.length) === PREFACE;
      const inner = connect(isGrpc ? ports.grpc : ports.http, HOST);
      inner.on('error', () => undefined).on('close', () => socket.destroy());
      socket.on('close', () => inner.destroy());
      inner.write(first);
      socket.pipe(inner).pipe(socket);
    });
  };
}

type Kept = Pick<StoredEvent, 'stream' | 'id' | 'type' | 'contentType'> & { data: string; metadata: string };

function keptIn(file: string): StoredData {
  const stored = new StoredData();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []) {
    const { stream, data, metadata, ...event } = JSON.parse(line) as Kept;
    stored.adopt(stream, { ...event, data: Buffer.from(data, 'base64'), metadata: Buffer.from(metadata, 'base64') });
  }
  let kept = stored.log.length;
  stored.appends.on('append', () => {
    const lines = stored.log.slice(kept).map((event) => `${JSON.stringify(toKept(event))}\n`);
    kept = stored.log.length;
    appendFileSync(file, lines.join(''));
  });
  return stored;
}

function toKept({ stream, id, type, contentType, data, metadata }: StoredEvent): Kept {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return { stream, id, type, contentType, data: base64(data), metadata: base64(metadata) };
}

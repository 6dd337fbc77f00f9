/** Hostile receivers, each in a different way. Requests to them over TLS are for localhost. */
import { once } from 'node:events';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { certificateFor } from './certificates.js';
import { listen } from './receiver.js';

export interface HostileEndpoint {
  readonly port: number;
  /** Open connections to it, as far as it can know. */
  open(): number;
  close(): Promise<unknown>;
}

export interface HostileKind {
  readonly name: string;
  readonly ends: 'delivered' | 'exhausted';
  start(): Promise<HostileEndpoint>;
}

const CHUNK_BYTES = 64 * 1_024;
const CHUNK_EVERY_MS = 10;
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';
const CHUNK = `3e8\r\n${'a'.repeat(1_000)}\r\n`;

/** Each, by how a delivery to it ends. */
const KINDS: Readonly<Record<HostileKind['ends'], Readonly<Record<string, HostileKind['start']>>>> = {
  exhausted: {
    'hangs at connect': neverAccepts,
    'hangs in TLS': () => plain((socket) => socket.resume()),
    'resets in TLS': () => plain((socket) => socket.once('data', () => socket.resetAndDestroy())),
    'hangs before headers': () => scripted(() => undefined),
    resets: () => scripted((socket) => socket.destroy()),
    'a flood of 1xx': () => scripted((socket) => writeForEver(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n')),
    'no HTTP': () => scripted((socket) => socket.end('220 mail ready\r\n')),
  },
  delivered: {
    'hangs in the body': () => scripted((socket) => socket.write(`${OK}content-length: 10\r\n\r\nhalf`)),
    'endless headers': () => scripted((socket) => writeForEver(socket, OK, 'x-more: and more\r\n')),
    'one endless header': () => scripted((socket) => writeForEver(socket, `${OK}x: `, 'a'.repeat(1_000))),
    'an endless body': () => scripted((socket) => writeForEver(socket, `${OK}${CHUNKED}`, CHUNK)),
    'closes after each request': () => scripted((socket) => socket.end(`${OK}content-length: 0\r\n\r\n`)),
  },
};

export const HOSTILE_KINDS: readonly HostileKind[] = (['exhausted', 'delivered'] as const).flatMap((ends) =>
  Object.entries(KINDS[ends]).map(([name, start]) => ({ name, ends, start })),
);

/** A TCP server. */
async function plain(onConnection: (socket: Socket) => void): Promise<HostileEndpoint> {
  const { port, sockets, close } = await listen(createTcpServer(onConnection));
  return { port, open: () => sockets.size, close };
}

/** A TLS server that responds to a request's first bytes. */
async function scripted(answer: (socket: TLSSocket) => void): Promise<HostileEndpoint> {
  const server = createTlsServer(await certificateFor());
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined); // the client closes the connection
    socket.once('data', () => answer(socket.resume()));
  });
  server.on('tlsClientError', () => undefined);
  const { port, sockets, close } = await listen(server);
  return { port, open: () => sockets.size, close };
}

/** Endlessly, at a pace that leaves some of the machine to the others. */
function writeForEver(socket: TLSSocket, start: string, text: string): void {
  const chunk = text.repeat(Math.ceil(CHUNK_BYTES / text.length));
  const timer = setInterval(() => {
    if (socket.writable && !socket.writableNeedDrain) socket.write(chunk);
  }, CHUNK_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
  socket.write(start + chunk);
}

/** Listens in a thread that then blocks, with a full queue of unaccepted connections: SYNs are dropped. */
async function neverAccepts(): Promise<HostileEndpoint> {
  const thread = new Worker(LISTEN_AND_STAND_STILL, { eval: true });
  const [port] = (await once(thread, 'message')) as [number];
  const line = [1, 2].map(() => connect(port, '127.0.0.1'));
  await Promise.all(line.map((socket) => once(socket, 'connect')));
  const close = async () => {
    for (const socket of line) socket.destroy();
    await thread.terminate();
  };
  return { port, open: () => 0, close };
}

const LISTEN_AND_STAND_STILL = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:worker_threads').parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

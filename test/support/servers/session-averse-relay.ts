/** A relay that resets TLS connections whose client offers to resume a session. */
import { connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '../../services/reset-socket.js';
import { listen } from './receiver.js';

const PRE_SHARED_KEY = 41;

export interface SessionAverseRelay {
  readonly port: number;
  /** Connections that offered a session. */
  readonly resets: () => number;
  close(): Promise<void>;
}

/** @param to port of a TLS 1.3 server */
export async function startSessionAverseRelay(to: number): Promise<SessionAverseRelay> {
  let resets = 0;
  const relay = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', (hello) => {
      if (offersSession(hello)) {
        resets += 1;
        resetSocket(client);
      } else join(client, hello, to);
    });
  });
  const { port, close } = await listen(relay, 0);
  return { port, resets: () => resets, close };
}

function join(client: Socket, hello: Buffer, to: number): void {
  const server = connect(to, '127.0.0.1').on('error', () => undefined);
  server.write(hello);
  client.pipe(server).pipe(client);
  client.once('close', () => server.destroy());
  server.once('close', () => client.destroy());
}

/** By the extensions of a ClientHello (RFC 8446 4.1.2) in one record. */
function offersSession(hello: Buffer): boolean {
  let at = 5 + 4 + 2 + 32;
  at += 1 + hello.readUInt8(at); // session id
  at += 2 + hello.readUInt16BE(at); // cipher suites
  at += 1 + hello.readUInt8(at); // compression methods
  const end = at + 2 + hello.readUInt16BE(at);
  for (at += 2; at + 4 <= end; at += 4 + hello.readUInt16BE(at + 2)) {
    if (hello.readUInt16BE(at) === PRE_SHARED_KEY) return true;
  }
  return false;
}

/** A relay between a client and a server on loopback that a test may cut or freeze. */
import { connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '../../services/reset-socket.js';
import { listen } from './receiver.js';

export type Relay = Awaited<ReturnType<typeof startRelay>>;

export async function startRelay(to = 0, onPort = 0) {
  let target = to;
  let state: 'whole' | 'cut' | 'frozen' = 'whole';
  const sockets = new Set<Socket>();
  const waiting: Socket[] = [];

  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined); // resets are the purpose of the relay
    return socket.once('close', () => sockets.delete(socket));
  };
  const join = (client: Socket): void => {
    if (client.destroyed) return;
    const server = keep(connect(target, '127.0.0.1'));
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('data', (chunk) => to.write(chunk));
      from.once('close', () => to.destroy());
    }
  };

  const relay = createServer({ pauseOnConnect: true }, (client) => {
    if (state === 'cut') resetSocket(client);
    else if (state === 'frozen') waiting.push(keep(client));
    else join(keep(client).resume());
  });
  const { port, close } = await listen(relay, onPort);

  return {
    port,
    /** Call before the first connection where the relay was started without a port. */
    leadTo: (port: number) => {
      target = port;
    },
    /** Resets every connection, including new ones. */
    cut: () => {
      state = 'cut';
      for (const socket of sockets) resetSocket(socket);
    },
    /** Accepts connections and data, and returns nothing: like a server that is stopped, or a network that drops everything. */
    freeze: () => {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    /** Back to normal. Frozen connections continue where they were. */
    mend: () => {
      state = 'whole';
      for (const socket of sockets) socket.resume();
      for (const client of waiting.splice(0)) join(client);
    },
    close: async (): Promise<void> => {
      for (const socket of sockets) socket.destroy();
      await close();
    },
  };
}

/** A relay between a client and a server on loopback that a test may cut or freeze. */
import { connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '../../services/reset-socket.js';
import { listen } from './receiver.js';

export interface Relay {
  /** The port for clients. */
  readonly port: number;
  /** Call before the first connection where the relay was started without a port. */
  leadTo(port: number): void;
  /** Resets every connection, including new ones. */
  cut(): void;
  /**
   * Accepts connections and data, and returns nothing: like a server stopped by SIGSTOP, or behind a network that drops
   * everything.
   */
  freeze(): void;
  /** Back to normal. Frozen connections continue where they were. */
  mend(): void;
  close(): Promise<void>;
}

export async function startRelay(to = 0): Promise<Relay> {
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
  const { port, close } = await listen(relay);

  return {
    port,
    leadTo: (port) => {
      target = port;
    },
    cut: () => {
      state = 'cut';
      for (const socket of sockets) resetSocket(socket);
    },
    freeze: () => {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    mend: () => {
      state = 'whole';
      for (const socket of sockets) socket.resume();
      for (const client of waiting.splice(0)) join(client);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await close();
    },
  };
}

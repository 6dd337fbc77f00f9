/** A server's sockets. They can be broken, and frozen: a stopped process reads nothing, and its kernel still accepts. */
import type { Socket } from 'node:net';
import { resetSocket } from '../reset-socket.js';

/** Of Node, below the socket that HTTP/2 reads past. */
interface Handle {
  readStop(): void;
  readStart(): void;
}

export class Connections {
  readonly #sockets = new Map<string, Socket>();
  readonly #serve: (socket: Socket) => void;
  /** Accepted, and not served yet. */
  readonly #waiting = new Set<Socket>();
  #isFrozen = false;

  constructor(serve: (socket: Socket) => void) {
    this.#serve = serve;
  }

  accept(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#sockets.set(peer, socket);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        this.#sockets.delete(peer);
        this.#waiting.delete(socket);
      });
    if (this.#isFrozen) {
      this.#waiting.add(socket);
      handleOf(socket)?.readStop();
    } else this.#serve(socket);
  }

  /** Breaks the connection with this peer. */
  cut(peer: string): void {
    const socket = this.#sockets.get(peer);
    if (socket) resetSocket(socket);
  }

  freeze(on: boolean): void {
    if (on === this.#isFrozen) return;
    this.#isFrozen = on;
    for (const socket of this.#sockets.values()) {
      if (on) handleOf(socket)?.readStop();
      else handleOf(socket)?.readStart();
    }
    if (on) return;
    for (const socket of this.#waiting) this.#serve(socket);
    this.#waiting.clear();
  }

  async end(endSocket: (socket: Socket) => void): Promise<void> {
    const sockets = [...this.#sockets.values()];
    const closed = sockets.map(closeOf);
    for (const socket of sockets) endSocket(socket);
    await Promise.all(closed);
  }
}

function handleOf(socket: Socket): Handle | null | undefined {
  return (socket as unknown as { readonly _handle?: Handle | null })._handle;
}

/** events.once is rejected where the client ends the connection at the same moment. */
function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

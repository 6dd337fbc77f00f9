/** A server's sockets by peer: what is cut is reset, as the kernel of a killed server does. */
import type { Socket } from 'node:net';
import { resetSocket } from '../reset-socket.js';

export class Connections {
  readonly #sockets = new Map<string, Socket>();

  add(socket: Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#sockets.set(peer, socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(peer));
  }

  cut(peer: string): void {
    const socket = this.#sockets.get(peer);
    if (socket) resetSocket(socket);
  }

  async end(endSocket: (socket: Socket) => void): Promise<void> {
    const sockets = [...this.#sockets.values()];
    const closed = sockets.map(closeOf);
    for (const socket of sockets) endSocket(socket);
    await Promise.all(closed);
  }
}

/** events.once is rejected where the client ends the connection at the same moment. */
function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

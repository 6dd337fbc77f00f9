/** A connection that is held open for as long as the server lets it, whatever was answered on it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const DRIP_EVERY_MS = 10;

export class HeldConnection {
  /** What came so far. */
  received = '';
  /** The server's side is gone; ended alone it is not. */
  isClosed = false;
  readonly #socket: Socket;
  #drip: NodeJS.Timeout | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      this.received += chunk;
    });
    socket.on('error', () => undefined); // a reset is one way to be closed
    socket.on('close', () => {
      this.isClosed = true;
      clearInterval(this.#drip);
    });
  }

  static async open(port: number): Promise<HeldConnection> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const held = new HeldConnection(socket);
    await once(socket, 'connect');
    return held;
  }

  /** The server has ended its side, which is seen without sending anything. */
  get hasEnded(): boolean {
    return this.#socket.readableEnded;
  }

  send(text: string): this {
    this.#socket.write(text);
    return this;
  }

  /** Whatever is answered from now on fills the buffers on the way. */
  stopReading(): this {
    this.#socket.pause();
    return this;
  }

  /** Goes on sending it, a little at a time; by that it also learns that the server has closed. */
  keepSending(text: string): this {
    this.#drip = setInterval(() => this.#socket.write(text), DRIP_EVERY_MS);
    return this;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** A connection that stays open for as long as the server allows, whatever the responses. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const DRIP_EVERY_MS = 10;

export class HeldConnection {
  /** The bytes received so far. */
  received = '';
  /** Whether the server has closed both directions; a half-closed connection is not closed. */
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

  /** Whether the server has ended its side, which is visible without sending anything. */
  get hasEnded(): boolean {
    return this.#socket.readableEnded;
  }

  send(text: string): this {
    this.#socket.write(text);
    return this;
  }

  /** From now on responses fill the buffers on the way. */
  stopReading(): this {
    this.#socket.pause();
    return this;
  }

  /** Keeps sending the text, slowly; this also reveals when the server has closed. */
  keepSending(text: string): this {
    this.#drip = setInterval(() => this.#socket.write(text), DRIP_EVERY_MS);
    return this;
  }

  close(): void {
    this.#socket.destroy();
  }
}

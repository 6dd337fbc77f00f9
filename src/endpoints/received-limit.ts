/**
 * Limits what a receiver can make this process read for one request. Without limits it could send endlessly what is not
 * yet a response or not part of its body (1xx, empty lines, chunk extensions, TLS records without content): until the
 * deadline this process would read and parse that at full speed, and other endpoints would wait.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { endValidation, unreadOn } from './idle-socket.js';
import { ResponseStart } from './response-start.js';

const KIB = 1024;
/** 1xx responses cost 1.5 us each. */
const MOST_INFORMATIONAL = 8;
const MOST_INFORMATIONAL_BYTES = 32 * KIB;
/** As sent: a head of 64 KiB, 1xx responses before it, and what follows it in the same read. */
const MOST_BYTES_BEFORE_BODY = MOST_INFORMATIONAL_BYTES + 80 * KIB;
/** As sent: of the content 64 KiB are read (exchange.ts). */
const MOST_BODY_BYTES = 128 * KIB;
/** More than all of the above, with the TLS handshake. */
const MOST_TCP_BYTES = 256 * KIB;
/**
 * For undici, which is not to notice: it makes an error with a stack for each header beyond its limit. With 64 KiB that was 38 % of
 * the thread beside 400 hostile accounts.
 */
export const NEVER_REACHED_BYTES = MOST_TCP_BYTES;
/** A body of 64 KiB is 45 segments. One byte in a record of its own costs 25 to 60 us. */
const MOST_READS = 1_000;
/** Servers send two. Node serialises each: 12,000 fit into 256 KiB, and took 80 ms. */
const MOST_TICKETS = 8;
/** Colon and line end, for each two of names and values. */
const SEPARATOR_BYTES = 2;

/** Of one connection. Call `begin` for each request. */
export class ReceivedLimit {
  readonly start = new ResponseStart();
  /** The connection was there before the request: the server may have closed it without seeing the request. */
  isReused = false;
  /** Its TLS session was resumed. */
  isResumed = false;
  #tcp: Socket | undefined;
  #socket: TLSSocket | undefined;
  #tcpBefore = 0;
  /** Content, since the request began. */
  #bytes = 0;
  #most = 0;
  #reads = 0;
  #tickets = 0;
  #informational = 0;
  #informationalBytes = 0;

  begin(): void {
    this.isReused = this.#socket !== undefined;
    this.#tcpBefore = this.#tcp?.bytesRead ?? 0;
    this.#bytes = 0;
    this.#most = MOST_BYTES_BEFORE_BODY;
    this.#reads = 0;
    this.#tickets = 0;
    this.#informational = 0;
    this.#informationalBytes = 0;
  }

  /** Call before an idle connection is used at once. Without a descriptor undici waits all the same. @returns false: it must end */
  mayBeReusedNow(): boolean {
    const [tcp, socket] = [this.#tcp, this.#socket];
    if (!tcp || !socket || socket.destroyed) return false;
    const unread = unreadOn(tcp);
    if (unread === 'nothing') endValidation(socket);
    return unread !== 'something';
  }

  /** Before a request can be sent. */
  get connecting(): 'connecting' | 'handshake' {
    return this.#socket ? 'handshake' : 'connecting';
  }

  /** A connection begins. */
  watchTcp(tcp: Socket): void {
    this.#tcp = tcp;
    this.#socket = undefined;
    this.#tcpBefore = 0;
  }

  /** Call before the first read from the socket. */
  watch(socket: TLSSocket): void {
    this.#socket = socket;
    const read = socket.read;
    socket.read = (size?: number): Buffer | null => {
      const chunk: Buffer | null = read.call(socket, size);
      if (chunk === null) return null;
      this.#reads += 1;
      this.#bytes += chunk.length;
      if (this.#reads > MOST_READS || this.#bytes > this.#most) {
        socket.destroy(tooMuch('RECEIVED_TOO_MUCH'));
        return null;
      }
      this.start.came(chunk);
      return chunk;
    };
    socket.on('session', () => {
      this.#tickets += 1;
      if (this.#tickets > MOST_TICKETS) socket.destroy(tooMuch('ERR_TLS_RECEIVED_TOO_MUCH'));
    });
  }

  /** The receiver has answered without reading its request to the end: what it leaves is kept in memory. */
  get hasUnsent(): boolean {
    return (this.#socket?.writableLength ?? 0) > 0;
  }

  /** A 1xx response came. */
  informational(headers: readonly { readonly length: number }[]): void {
    this.#informational += 1;
    for (const { length } of headers) this.#informationalBytes += length + SEPARATOR_BYTES;
    if (this.#informational <= MOST_INFORMATIONAL && this.#informationalBytes <= MOST_INFORMATIONAL_BYTES) return;
    this.start.stop();
    this.#socket?.destroy(tooMuch('RECEIVED_TOO_MUCH'));
  }

  headCame(): void {
    this.start.stop();
    this.#most = this.#bytes + MOST_BODY_BYTES;
    this.checkTcp();
  }

  /** Call every now and then: TLS records without content (KeyUpdate) raise no event. */
  checkTcp(): void {
    const tcp = this.#tcp;
    if (!tcp || tcp.bytesRead - this.#tcpBefore <= MOST_TCP_BYTES) return;
    (this.#socket ?? tcp).destroy(tooMuch('ERR_TLS_RECEIVED_TOO_MUCH'));
  }
}

function tooMuch(code: string): Error {
  return Object.assign(new Error('received too much for one request'), { code });
}

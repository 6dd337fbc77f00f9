/** A TLS 1.3 server that sends records of its own making: Node's and OpenSSL's servers send no floods. */
import { createCipheriv, createHmac } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { certificateFor } from './certificates.js';

const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const KEY_BYTES = 16;
const IV_BYTES = 12;
const SECRET_BYTES = 32;
/** A server of Node sends two NewSessionTicket records first. */
const SENT_BEFORE = 2;

/** update_not_requested */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0]);

/** @param answer what is sent after a request's bytes; the TCP socket */
export async function recordServer(answer: (socket: Socket, sender: RecordSender) => void): Promise<Server> {
  const secureContext = createSecureContext({
    ...(await certificateFor()),
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256',
  });
  return createServer((tcp) => {
    const socket = new TLSSocket(tcp, { isServer: true, secureContext });
    let secret = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('keylog', (line) => {
      const [label, , hex = ''] = line.toString().trim().split(' ');
      if (label === 'SERVER_TRAFFIC_SECRET_0') secret = Buffer.from(hex, 'hex');
    });
    // One turn later: the tickets are sent with what ends the handshake.
    socket.once('data', () => setImmediate(() => answer(tcp, new RecordSender(secret))));
  });
}

/** RFC 8446, sections 5.2, 7.2 and 7.3. */
export class RecordSender {
  #secret: Buffer;
  #sequence = SENT_BEFORE;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  keyUpdates(count: number): Buffer {
    const records = Array.from({ length: count }, () => {
      const record = this.#record(HANDSHAKE, KEY_UPDATE);
      this.#secret = this.#expand('traffic upd', SECRET_BYTES);
      this.#sequence = 0;
      return record;
    });
    return Buffer.concat(records);
  }

  text(text: string): Buffer {
    return this.#record(APPLICATION_DATA, Buffer.from(text));
  }

  #record(type: number, message: Buffer): Buffer {
    const content = Buffer.concat([message, Buffer.from([type])]);
    const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, content.length + 16]);
    const nonce = this.#expand('iv', IV_BYTES);
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#sequence) >>> 0, 8);
    this.#sequence += 1;
    const cipher = createCipheriv('aes-128-gcm', this.#expand('key', KEY_BYTES), nonce).setAAD(head);
    return Buffer.concat([head, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  }

  /** HKDF-Expand-Label, of one block. */
  #expand(label: string, length: number): Buffer {
    const name = Buffer.from(`tls13 ${label}`);
    const info = [Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])];
    return createHmac('sha256', this.#secret).update(Buffer.concat(info)).digest().subarray(0, length);
  }
}

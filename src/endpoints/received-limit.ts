/**
 * What may come over a connection for one request: more than any response has that is read to its end. Without it a
 * receiver could send for ever what is no part of a response yet, or no part of its body (1xx, empty lines, chunk
 * extensions): until the deadline it would be read and parsed as fast as it comes, and other endpoints would wait.
 */
import type { TLSSocket } from 'node:tls';

const MOST_BYTES = 256 * 1024;

/** The code of the error that ends the connection. */
const RECEIVED_TOO_MUCH = 'RECEIVED_TOO_MUCH';

/** To be called before anybody else listens to the socket. */
export function limitReceived(socket: TLSSocket): void {
  let written = 0;
  let readBefore = 0;
  socket.on('readable', () => {
    const { bytesWritten, bytesRead } = socket;
    // Another request was written: from here on it is counted anew.
    if (bytesWritten !== written) [written, readBefore] = [bytesWritten, bytesRead];
    if (bytesRead - readBefore <= MOST_BYTES) return;
    socket.destroy(Object.assign(new Error('received too much for one request'), { code: RECEIVED_TOO_MUCH }));
  });
}

/**
 * Limits the bytes received per request, to more than any response that is read to its end. Without a limit a receiver
 * could send endlessly what is not yet a response or not part of its body (1xx, empty lines, chunk extensions): until
 * the deadline this process would read and parse it at full speed, and other endpoints would wait.
 */
import type { TLSSocket } from 'node:tls';

const MOST_BYTES = 256 * 1024;

/** The code of the error that ends the connection. */
const RECEIVED_TOO_MUCH = 'RECEIVED_TOO_MUCH';

/** Call before anybody else listens to the socket. */
export function limitReceived(socket: TLSSocket): void {
  let written = 0;
  let readBefore = 0;
  socket.on('readable', () => {
    const { bytesWritten, bytesRead } = socket;
    // A new request was written: counting restarts here.
    if (bytesWritten !== written) [written, readBefore] = [bytesWritten, bytesRead];
    if (bytesRead - readBefore <= MOST_BYTES) return;
    socket.destroy(Object.assign(new Error('received too much for one request'), { code: RECEIVED_TOO_MUCH }));
  });
}

import type { Socket } from 'node:net';

/**
 * Resets a connection, so that its peer gets ECONNRESET. Node can't reset a socket while its end is being sent: it reports
 * EINVAL, never emits `close`, and leaves the handle open. Such a connection ends as it was about to.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

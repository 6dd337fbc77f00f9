import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that Linux, macOS and Windows give to outgoing connections: a server that is away for a while would not get
 * such a port back if a connection has it, even one of its own clients that tried to reach it.
 */
const [FIRST, COUNT] = [20_000, 12_000];

/** On loopback. Somebody else may take it before it is used. @returns {Promise<number>} */
export async function freePort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

/** @param {number} port */
async function isFree(port) {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that Linux, macOS and Windows give to outgoing connections: a server that is away for a while would not get
 * such a port back if a connection has it, even one of its own clients that tried to reach it.
 */
const [FIRST, COUNT] = [10_000, 22_000];
/**
 * Each of jest's workers has a part for itself, and goes through it in order: while a server is away, its port stays free.
 * With ports at random from all of them, a client that looked for a killed server found one of another worker's. A part is
 * more than a worker uses: grpc-js keeps what it knows of an address for the whole process, so a client of a new server on the
 * port of a killed one was told that nobody answers there.
 */
const PARTS = 22;
const PART_COUNT = COUNT / PARTS;

const partBegins = FIRST + (Number(process.env.JEST_WORKER_ID ?? 0) % PARTS) * PART_COUNT;
/** The process's: this file is loaded for each test file again, and a port of the file before is not free of its clients yet. */
const ORDER = Symbol.for('account-webhooks: the next free port');
process[ORDER] ??= { next: Math.floor(Math.random() * PART_COUNT) };
const order = process[ORDER];

/** On loopback. Another program may take it before it is used. @returns {Promise<number>} */
export async function freePort() {
  for (let tries = 0; tries < PART_COUNT; tries += 1) {
    const port = partBegins + order.next;
    order.next = (order.next + 1) % PART_COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error(`all of ${PART_COUNT} ports from ${partBegins} are taken`);
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

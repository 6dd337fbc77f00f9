/** A log that is replaced by another on the same port: a shorter one, none, another history. */
import { fileURLToPath } from 'node:url';
import { collect, event, failure, harness, numbers } from './harness.js';
import { type OwnServer, startOwnServer } from './own-server.js';
import { startRealServer } from './real-server.js';

const PROGRAM = fileURLToPath(new URL('./server-program.js', import.meta.url));
const { client: connect, onEnd } = harness();

describe.each([
  ['the server of a test', () => startOwnServer()],
  ['a server that a program starts', () => startRealServer(PROGRAM)],
])('%s', (_, start) => {
  let server: OwnServer;
  /** A client of its own: others find out that their connection broke. */
  const read = async (stream: string) => numbers(await collect(connect(server.url).readStream(stream)));

  async function twoEvents() {
    server = await start();
    onEnd(() => server.stop());
    await connect(server.url).appendToStream('account-1', event(1));
    const restore = await server.backup();
    await connect(server.url).appendToStream('account-1', event(2));
    expect(await read('account-1')).toEqual([1, 2]);
    return restore;
  }

  test('has the shorter log of a backup, and goes on from there', async () => {
    const restore = await twoEvents();
    await restore();
    expect(await read('account-1')).toEqual([1]);
    const { nextExpectedRevision } = await connect(server.url).appendToStream('account-1', event(3));
    expect(nextExpectedRevision).toBe(1n);
    await restore();
    expect(await read('account-1')).toEqual([1]);
  });

  test('is empty, and another history begins', async () => {
    await twoEvents();
    await server.empty();
    expect(await failure(read('account-1'))).toMatchObject({ type: 'stream-not-found' });
    await connect(server.url).appendToStream('account-1', event(9));
    expect(await read('account-1')).toEqual([9]);
  });
});

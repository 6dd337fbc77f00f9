import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from './reset-socket.js';

test.each([
  ['resets a connection', () => undefined, 'ECONNRESET'],
  ['closes one whose end is being sent', (socket: Socket) => socket.end(), null],
])('%s', async (_, before, expected) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let failure: string | null = null;
  client.on('error', ({ code }: NodeJS.ErrnoException) => {
    failure = code ?? '';
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.resume();
  const closed = Promise.all([closeOf(socket), closeOf(client.resume())]);
  before(socket);
  resetSocket(socket);
  await closed;
  server.close();
  expect(failure).toBe(expected);
});

/** events.once is rejected by an error. */
function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

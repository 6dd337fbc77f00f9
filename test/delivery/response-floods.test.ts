/** Receivers that send without end what is no part of a response yet, or no part of its body. */
import { afterEach, expect, test } from '@jest/globals';
import { AttemptFixture, failure, send, writeForEver } from '../support/attempt-fixture.js';
import { startReceiver } from '../support/receiver.js';

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

test.each([
  ['informational responses', '', 'HTTP/1.1 102 Processing\r\n\r\n', null],
  ['empty lines', '', '\r\n', null],
  ['a chunk extension', `${CHUNKED}1;`, 'extension', 200],
])('%s: it failed, long before the deadline, and the connection is closed', async (_, start, text, status) => {
  const listener = await fixture.scripted((socket) => {
    socket.write(start || text);
    writeForEver(socket, text.repeat(1_000));
  });
  const result = await send(await fixture.agent(), `https://localhost:${listener.port}/`);
  expect(result).toMatchObject(failure('invalid-response', status));
  await listener.allClosed();
});

test('what comes is counted for each request: a connection may be used for long', async () => {
  const receiver = await startReceiver({ respond: () => ({ status: 200, body: 'x'.repeat(60_000) }) });
  fixture.onClose(receiver.close);
  const agent = await fixture.agent();
  for (let request = 0; request < 10; request += 1) {
    expect(await send(agent, `${receiver.url}/`)).toMatchObject({ kind: 'delivered' });
  }
  expect(receiver.sockets.size).toBe(1);
});

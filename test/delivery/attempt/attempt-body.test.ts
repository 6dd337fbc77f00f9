/** What follows the headers: read only to keep the connection, and what comes before a request is no answer to it. */
import type { TLSSocket } from 'node:tls';
import { createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { spin } from '../../support/clocks/spin.js';
import { AttemptFixture, LONG, OK, requestTo, send } from '../../support/scenes/attempt-fixture.js';

const EMPTY_500 = 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

describe('a body', () => {
  test('that ends soon keeps the connection for the next request', async () => {
    const listener = await fixture.scripted((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n');
      setImmediate(() => socket.write('good'));
    });
    const common = { agent: await fixture.agent(), timeoutMs: LONG, now: Date.now, userAgent: 'test/1' };
    const attempt = createAttempt(common);
    for (const _ of [1, 2, 3]) {
      const result = await attempt(requestTo(`https://localhost:${listener.port}/`));
      expect(result).toMatchObject({ kind: 'delivered' });
      // The next one may begin in the same turn of the event loop.
      await result.over;
    }
    expect(listener.counts).toEqual({ connections: 1, requests: 3 });
  });

  test.each(['200 OK', '500 No'])(
    'that is complete with its headers leaves nothing to wait for: %s',
    async (status) => {
      const listener = await fixture.scripted((socket) =>
        socket.write(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\nok`),
      );
      expect((await send(await fixture.agent(), `https://localhost:${listener.port}/`)).over).toBeUndefined();
    },
  );

  test('that stays open after a 2xx is closed long before the deadline', async () => {
    const listener = await fixture.scripted((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n: hello'));
    const { over } = await send(await fixture.agent(), `https://localhost:${listener.port}/`, 1_000 * LONG);
    expect(over).toBeInstanceOf(Promise);
    await over;
    await listener.allClosed();
  });

  test('that stays open is closed when the service stops', async () => {
    const listener = await fixture.scripted((socket) => socket.write('HTTP/1.1 500 No\r\n\r\nwhy'));
    const stop = new AbortController();
    const attempt = createAttempt({
      agent: await fixture.agent(),
      timeoutMs: LONG,
      now: Date.now,
      userAgent: 'test/1',
    });
    const result = await attempt({ ...requestTo(`https://localhost:${listener.port}/`), signal: stop.signal });
    expect(result).toMatchObject({ kind: 'retryable', status: 500 });
    stop.abort();
    await result.over;
    await listener.allClosed();
  });
});

describe.each([
  ['at once', true],
  ['after a turn', false],
])('a response that came before its request is ignored (sent %s)', (_, areLong) => {
  test.each([
    ['a valid response', OK],
    ['one that the parser rejects', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
  ])('%s: the request is sent on another connection', async (_, unasked) => {
    const sockets: TLSSocket[] = [];
    const listener = await fixture.scripted((socket, connection) => {
      sockets.push(socket);
      socket.write(connection === 1 ? OK : EMPTY_500);
    });
    const agent = await fixture.agent({ turns: { areLong: () => areLong } });
    const url = `https://localhost:${listener.port}/`;
    expect(await send(agent, url)).toMatchObject({ kind: 'delivered' });
    const attempt = createAttempt({ agent, timeoutMs: LONG, now: Date.now, userAgent: 'test/1' });
    // It is on its way while this process is busy, and unread when the request begins.
    sockets[0]?.write(unasked);
    spin(50);
    expect(await attempt(requestTo(url))).toMatchObject({ kind: 'retryable', status: 500 });
    expect(listener.counts.connections).toBe(2);
  });
});

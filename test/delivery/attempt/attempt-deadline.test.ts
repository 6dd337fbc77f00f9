import { createServer as createTcpServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { LookupAll } from '../../../src/endpoints/guarded-lookup.js';
import { patience } from '../../runner/patience.js';
import { eventually } from '../../support/clocks/eventually.js';
import { spin } from '../../support/clocks/spin.js';
import { AttemptFixture, failure, LONG, OK, SHORT, send } from '../../support/scenes/attempt-fixture.js';

const fixture = new AttemptFixture();
afterEach(() => fixture.close());

describe('the deadline ends', () => {
  test('a name that does not resolve in time', async () => {
    const agent = await fixture.agent({ lookup: () => {}, connectTimeoutMs: SHORT });
    expect(await send(agent, 'https://hooks.shop.com/', SHORT)).toMatchObject(failure('timeout'));
  });

  test('a connection that is made too late: nothing is sent on it', async () => {
    const listener = await fixture.scripted((socket) => socket.write(OK));
    let resolveName = () => {};
    const lookup: LookupAll = (_host, _options, callback) => {
      resolveName = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const result = await send(await fixture.agent({ lookup }), `https://localhost:${listener.port}/`, SHORT);
    expect(result).toMatchObject(failure('timeout'));
    resolveName();
    await listener.allClosed();
    expect(listener.counts.requests).toBe(0);
  });

  test('a TLS handshake that is never answered, and its connection', async () => {
    const listener = await fixture.listening(createTcpServer((socket) => socket.resume()));
    const agent = await fixture.agent({ connectTimeoutMs: SHORT });
    expect(await send(agent, `https://localhost:${listener.port}/`, SHORT)).toMatchObject(failure('timeout'));
    await listener.allClosed();
  });

  test.each<[string, object, (socket: TLSSocket) => void]>([
    ['a request that is never answered', failure('timeout', 'waiting-for-headers'), () => {}],
    ['a status line that does not end', failure('timeout'), (socket) => socket.write('HTTP/1.1 200 O')],
    [
      'headers that come a byte at a time',
      { kind: 'delivered', status: 200 },
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        writeSlowly(socket, `x: ${'y'.repeat(65_000)}`);
      },
    ],
    [
      'headers that do not end',
      { kind: 'retryable', status: 503, error: null },
      (socket) => socket.write('HTTP/1.1 503 No\r\nx: y\r\n'),
    ],
    ['a body that does not come', { kind: 'delivered', status: 200 }, (socket) => socket.write(head('200 OK', 1))],
    ['a body that stops', { kind: 'gone', status: 410 }, (socket) => socket.write(`${head('410 Gone', 9)}half`)],
    [
      'a body that stops a byte before 64 KiB',
      { kind: 'delivered', status: 200 },
      (socket) => socket.write(head('200 OK', 70_000) + 'a'.repeat(65_535)),
    ],
    [
      'chunks without a last one',
      { kind: 'retryable', status: 500, error: null },
      (socket) => socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
    ],
  ])('%s, and its connection', async (_, expected, onData) => {
    const listener = await fixture.scripted(onData);
    // Its handshake and what is answered have to come in time, on a busy machine too.
    const deadline = SHORT * patience();
    const agent = await fixture.agent();
    const result = await send(agent, `https://localhost:${listener.port}/`, deadline);
    expect(result).toMatchObject(expected);
    await result.over;
    await listener.allClosed();
    await eventually(() => agent.connections === 0, { message: 'another connection was made' });
    expect(listener.counts).toEqual({ connections: 1, requests: 1 });
  });
});

function head(status: string, length: number): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${length}\r\n\r\n`;
}

function writeSlowly(socket: TLSSocket, text: string): void {
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(text.slice(sent, sent + 1));
    sent += 1;
  }, 5);
  socket.once('close', () => clearInterval(timer));
}

test('a response that came in time, while this process was held up, is no timeout', async () => {
  let heldUpMs = 0;
  const { port } = await fixture.scripted((socket) => {
    socket.write(OK);
    spin(heldUpMs);
  });
  const agent = await fixture.agent();
  // Its connection is made.
  await send(agent, `https://localhost:${port}/`, LONG);
  heldUpMs = 2 * SHORT;
  const result = await send(agent, `https://localhost:${port}/`, SHORT);
  expect(result).toMatchObject({ kind: 'delivered', status: 200 });
});

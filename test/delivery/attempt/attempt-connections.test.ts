import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createAttempt } from '../../../src/delivery/attempt/attempt.js';
import type { EndpointAgent } from '../../../src/endpoints/endpoint-agent.js';
import type { LookupAll } from '../../../src/endpoints/guarded-lookup.js';
import { eventually } from '../../support/clocks/eventually.js';
import { AttemptFixture, failure, LONG, OK, requestTo, send } from '../../support/scenes/attempt-fixture.js';
import type { Listener } from '../../support/servers/receiver.js';

const CLOSE = OK.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n');
const fixture = new AttemptFixture();
afterEach(() => fixture.close());

describe('no connection', () => {
  test.each([
    ['a name that does not exist', 'ENOTFOUND', failure('dns')],
    [
      'any name while no descriptor is left here, which does not count',
      'EMFILE',
      { kind: 'interrupted', by: 'shortage' },
    ],
  ])('is made to %s', async (_, code, expected) => {
    const lookup: LookupAll = (_host, _options, callback) => callback(Object.assign(new Error(), { code }), []);
    expect(await send(await fixture.agent({ lookup }), 'https://hooks.shop.com/')).toMatchObject(expected);
  });

  test('a connection that is being made is ended with the agent', async () => {
    const server = createTcpServer((socket) => socket.resume());
    const listener = await fixture.listening(server);
    const agent = await fixture.agent();
    const result = send(agent, `https://localhost:${listener.port}/`);
    await once(server, 'connection');
    await agent.destroy();
    expect(await result).toMatchObject({ kind: 'interrupted' });
    await listener.allClosed();
  });
});

test('a receiver that answers and does not read: what it leaves is not kept for the next request', async () => {
  const listener = await fixture.scripted((socket) => {
    socket.pause();
    socket.write(OK);
  });
  const agent = await fixture.agent();
  const attempt = createAttempt({ agent, timeoutMs: LONG, now: Date.now, userAgent: 'test/1' });
  // More than the buffers of two sockets hold.
  const body = Buffer.alloc(32 * 1024 * 1024);
  const request = { ...requestTo(`https://localhost:${listener.port}/`), body };
  expect(await attempt(request)).toMatchObject({ kind: 'delivered' });
  await eventually(() => agent.connections === 0);
});

describe.each([
  ['at once', true],
  ['after a turn', false],
])('a connection that is reset before the response (reused %s)', (_, areLong) => {
  const turns = { areLong: () => areLong };
  const reset = (socket: TLSSocket) => socket.destroy();
  const resetAll = (_: TLSSocket, { sockets }: Listener) => {
    for (const socket of sockets) socket.resetAndDestroy();
  };

  test('is a failure where it was fresh', async () => {
    const { result, listener } = await fixture.answered(reset);
    expect(result).toMatchObject(failure('connection-reset'));
    expect(listener.counts).toEqual({ connections: 1, requests: 1 });
  });

  test('is followed by one more try without the session if that was resumed, and the host is offered none for a while', async () => {
    const resets: boolean[] = [];
    const listener = await fixture.scripted((socket) => {
      resets.push(socket.isSessionReused());
      if (socket.isSessionReused()) reset(socket);
      else socket.end(`${OK}`);
    });
    const agent = await fixture.agent({ turns, mostIdle: 0 });
    for (let n = 0; n < 4; n += 1) {
      expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({ kind: 'delivered' });
    }
    expect(resets).toEqual([false, true, false, false, false]);
  });

  test.each<[string, (socket: TLSSocket, listener: Listener) => void]>([
    ['closed', reset],
    ['reset (RST)', resetAll],
  ])('is followed by one more try where it was reused: %s', async (_, end) => {
    const answered = new Set<TLSSocket>();
    const listener = await fixture.scripted((socket) => {
      if (answered.has(socket)) end(socket, listener);
      else socket.write(OK);
      answered.add(socket);
    });
    const agent = await fixture.agent({ turns });
    for (const _ of [1, 2]) {
      expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({
        kind: 'delivered',
        status: 200,
      });
    }
    expect(listener.counts).toEqual({ connections: 2, requests: 3 });
  });

  test('is a failure where it was reused and the fresh one after it is reset too', async () => {
    let answers = 1;
    const listener = await fixture.scripted((socket) => (answers-- > 0 ? socket.write(OK) : reset(socket)));
    const agent = await fixture.agent({ turns });
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({ kind: 'delivered' });
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject(failure('connection-reset'));
    expect(listener.counts).toEqual({ connections: 2, requests: 3 });
  });

  test.each([
    ['a status line', 'HTTP/1.1 500 No\r\nx: y\r\n', { kind: 'retryable', status: 500 }],
    ['what is no HTTP', 'garbage\r\n', failure('invalid-response', 'not-http')],
  ])('is not followed by another try where it was reused and %s has come', async (_, bytes, expected) => {
    let answers = 1;
    const listener = await fixture.scripted((socket) => {
      if (answers-- > 0) socket.write(OK);
      else socket.end(bytes);
    });
    const agent = await fixture.agent({ turns });
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({ kind: 'delivered' });
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject(expected);
    expect(listener.counts).toEqual({ connections: 1, requests: 2 });
  });
});

describe('a connection that ends with a request', () => {
  /** @returns the accounts and URLs that were told of by the end of all */
  const disconnected = async (onData: (socket: TLSSocket, nth: number) => void, attempts = 1) => {
    const told: string[] = [];
    const listener = await fixture.scripted(onData);
    const own = `https://localhost:${listener.port}/own`;
    const agent = await fixture.agent({
      disconnected: (accountId, url) => told.push(`${accountId} ${url === own ? 'own' : url}`),
    });
    for (let n = 0; n < attempts; n += 1) await send(agent, own);
    await eventually(() => agent.connections === 0);
    return told;
  };

  test.each<[string, (socket: TLSSocket) => void]>([
    ['the receiver says so', (socket) => socket.write(CLOSE)],
    ['the receiver does not say so', (socket) => socket.end(OK)],
    ['headers without end', (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(50_000)}`)],
    ['nothing is answered', (socket) => socket.destroy()],
  ])('is told of, and whose it was: %s', async (_, answer) => {
    expect(await disconnected(answer)).toEqual(['42 own']);
  });

  test('is told of where it ends with the next request', async () => {
    const answersFirst = (socket: TLSSocket, connection: number) => {
      if (answered.has(connection)) socket.destroy();
      else socket.write(connection === 1 ? OK : CLOSE);
      answered.add(connection);
    };
    const answered = new Set<number>();
    expect(await disconnected(answersFirst, 2)).toEqual(['42 own', '42 own']);
  });

  test('is not told of where none was made', async () => {
    const told: string[] = [];
    const agent = await fixture.agent({ disconnected: (_, url) => told.push(url) });
    // Port 1 is nobody's.
    await send(agent, 'https://localhost:1/');
    await eventually(() => agent.connections === 0);
    expect(told).toEqual([]);
  });

  test('is not told of where the agent ends it', async () => {
    const told: number[] = [];
    const listener = await fixture.scripted((socket) => socket.write(OK));
    const agent = await fixture.agent({ mostIdle: 1, disconnected: (accountId) => told.push(accountId) });
    const url = `https://localhost:${listener.port}/`;
    await Promise.all([send(agent, url), send(agent, url)]);
    await eventually(() => agent.connections === 1);
    await agent.destroy();
    expect(told).toEqual([]);
  });
});

describe('an idle connection', () => {
  test('is told of once requests can use it, for any URL of its origin, and until one does', async () => {
    const counts: number[] = [];
    const duringRequests: number[] = [];
    const listener = await fixture.scripted((socket) => {
      duringRequests.push(idle());
      socket.write(OK);
    });
    const url = `https://localhost:${listener.port}/own`;
    const idle = () => agent.idleTo(`https://localhost:${listener.port}/another?x=/`);
    const freed = (accountId: number, of: string) => counts.push(accountId, idle(), Number(of === url));
    const agent: EndpointAgent = await fixture.agent({ freed });
    expect(idle()).toBe(0);
    await send(agent, url);
    await eventually(() => counts.length > 0);
    expect(counts).toEqual([42, 1, 1]);
    expect(agent.idleTo('https://localhost:1/')).toBe(0);
    await send(agent, url);
    expect(duringRequests).toEqual([0, 0]);
    await eventually(() => idle() === 1);
  });

  test('is none where the receiver ends it', async () => {
    const listener = await fixture.scripted((socket) => socket.write(CLOSE));
    const agent = await fixture.agent({ freed: () => fail() });
    await send(agent, `https://localhost:${listener.port}/`);
    await eventually(() => agent.connections === 0);
    expect(agent.idleTo(`https://localhost:${listener.port}/`)).toBe(0);
  });
});

function fail(): never {
  throw new Error('it is not idle');
}

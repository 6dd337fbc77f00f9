import { once } from 'node:events';
import { createServer as createTcpServer, type Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type AttemptResult, createAttempt } from '../../src/delivery/attempt.js';
import { createEndpointAgent, type EndpointAgent } from '../../src/endpoints/endpoint-agent.js';
import type { ConnectorOptions } from '../../src/endpoints/guarded-connector.js';
import type { LookupAll } from '../../src/endpoints/resolve.js';
import { certificateFor, testAuthority } from '../support/certificates.js';
import { type Listener, listen, startReceiver } from '../support/receiver.js';

const LONG = 15_000;
const SHORT = 150;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function listening(server: Server): Promise<Listener> {
  const listener = await listen(server);
  cleanups.push(listener.close);
  return listener;
}

/** A TLS server that is handed each request's bytes as they come, and may answer whatever it likes. */
async function scripted(onData: (socket: TLSSocket, connection: number) => void) {
  const server = createTlsServer(await certificateFor());
  const counts = { connections: 0, requests: 0 };
  server.on('secureConnection', (socket) => {
    const connection = ++counts.connections;
    socket.on('error', () => {});
    socket.on('data', () => {
      counts.requests++;
      onData(socket, connection);
    });
  });
  return { ...(await listening(server)), counts };
}

async function agentOf(options: Partial<ConnectorOptions> = {}): Promise<EndpointAgent> {
  const { cert: ca } = await testAuthority();
  const agent = createEndpointAgent({ allowPrivate: true, connectTimeoutMs: LONG, ca, ...options });
  cleanups.push(() => agent.destroy());
  return agent;
}

/** An attempt over an agent; without a body, so that a request is one chunk at its receiver. */
async function send(agent: EndpointAgent, url: string, timeoutMs = LONG): Promise<AttemptResult> {
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'test/1' });
  await nextTurn(); // a connection is free again one turn of the event loop after its response
  const signal = new AbortController().signal;
  return attempt({ url, id: 'msg_1', body: Buffer.alloc(0), headers: [], secrets: [Buffer.alloc(32)], signal });
}

const failure = (error: string, status: number | null = null) => ({
  kind: 'retryable',
  error,
  status,
  retryAfterMs: null,
});

/** Writes for as long as somebody reads. */
function writeForEver(socket: TLSSocket, text: string): void {
  const more = () => {
    while (socket.writable && socket.write(text));
  };
  socket.on('drain', more);
  more();
}

describe('the deadline ends', () => {
  test('a name that does not resolve in time', async () => {
    const agent = await agentOf({ lookup: () => {}, connectTimeoutMs: SHORT });
    expect(await send(agent, 'https://hooks.shop.com/', SHORT)).toMatchObject(failure('timeout'));
  });

  test('a connection that is made too late: nothing is sent on it', async () => {
    const listener = await scripted((socket) => socket.write(OK));
    let resolveName = () => {};
    const lookup: LookupAll = (_host, _options, callback) => {
      resolveName = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const result = await send(await agentOf({ lookup }), `https://localhost:${listener.port}/`, SHORT);
    expect(result).toMatchObject(failure('timeout'));
    resolveName();
    await listener.allClosed();
    expect(listener.counts.requests).toBe(0);
  });

  test('a TLS handshake that is never answered, and its connection', async () => {
    const listener = await listening(createTcpServer((socket) => socket.resume()));
    const agent = await agentOf({ connectTimeoutMs: SHORT });
    expect(await send(agent, `https://localhost:${listener.port}/`, SHORT)).toMatchObject(failure('timeout'));
    await listener.allClosed();
  });

  test.each<[string, number | null, (socket: TLSSocket) => void]>([
    ['a request that is never answered', null, () => {}],
    ['a status line that does not end', null, (socket) => socket.write('HTTP/1.1 200 O')],
    ['headers that do not end', null, (socket) => socket.write('HTTP/1.1 200 OK\r\nx: y\r\n')],
    ['a flood of informational responses', null, (socket) => writeForEver(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
    ['a body that does not come', 200, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n')],
    ['a body that stops', 410, (socket) => socket.write('HTTP/1.1 410 Gone\r\ncontent-length: 9\r\n\r\nhalf')],
    [
      'a body that stops a byte before 64 KiB',
      200,
      (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 70000\r\n\r\n${'a'.repeat(65_535)}`),
    ],
    [
      'chunks without a last one',
      500,
      (socket) => socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'),
    ],
  ])('%s, and its connection', async (_, status, onData) => {
    const listener = await scripted(onData);
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`, SHORT);
    expect(result).toMatchObject(failure('timeout', status));
    await listener.allClosed();
    expect(listener.counts.requests).toBe(1);
  });
});

describe('too much is not read', () => {
  test.each([
    ['a body of 64 KiB and one byte', `content-length: 65537\r\n\r\n${'a'.repeat(65_537)}`],
    ['the first 64 KiB of a body that then stops', `content-length: 99999\r\n\r\n${'a'.repeat(65_536)}`],
  ])('%s is complete, and its connection is closed', async (_, rest) => {
    const listener = await scripted((socket) => socket.write(`HTTP/1.1 200 OK\r\n${rest}`));
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'delivered', status: 200, error: null });
    await listener.allClosed();
  });

  test('an endless body is complete, and its connection is closed', async () => {
    const chunk = `${(16_000).toString(16)}\r\n${'a'.repeat(16_000)}\r\n`;
    const listener = await scripted((socket) => {
      socket.write('HTTP/1.1 410 Gone\r\ntransfer-encoding: chunked\r\n\r\n');
      writeForEver(socket, chunk);
    });
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'gone', status: 410, error: null });
    await listener.allClosed();
  });

  test.each([
    ['many headers', 'x-filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'],
    ['one header', 'a'.repeat(1000)],
  ])('endless headers: %s', async (_, text) => {
    const listener = await scripted((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx-first: ');
      writeForEver(socket, text);
    });
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject(failure('invalid-response'));
    await listener.allClosed();
  });
});

describe('what is no HTTP response', () => {
  test.each([
    ['another protocol', '220 mail ready\r\n'],
    ['a bad header', 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['100 without Expect', `HTTP/1.1 100 Continue\r\n\r\n`],
    ['101 without Upgrade', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ])('%s', async (_, response) => {
    const listener = await scripted((socket) => socket.write(response));
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'retryable', error: 'invalid-response' });
    await listener.allClosed();
  });

  test('informational responses before the final one are skipped', async () => {
    const listener = await scripted((socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${OK}`));
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'delivered', status: 200 });
  });

  test('a body that ends before its length', async () => {
    const listener = await scripted((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject(failure('connection-reset', 200));
  });

  test('a body that ends with its connection is complete', async () => {
    const listener = await scripted((socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nall'));
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject({ kind: 'delivered', status: 200 });
  });
});

describe('no connection', () => {
  test('refused', async () => {
    const { port, close } = await listen(createTcpServer());
    await close();
    expect(await send(await agentOf(), `https://127.0.0.1:${port}/`)).toMatchObject(failure('connection-refused'));
    // localhost may be two addresses
    expect(await send(await agentOf(), `https://localhost:${port}/`)).toMatchObject(failure('connection-refused'));
  });

  test('a name that does not exist', async () => {
    const lookup: LookupAll = (_host, _options, callback) =>
      callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    expect(await send(await agentOf({ lookup }), 'https://hooks.shop.com/')).toMatchObject(failure('dns'));
  });

  test('an address that is not allowed, as a literal and behind a name', async () => {
    const listener = await listening(createTcpServer());
    const agent = await agentOf({ allowPrivate: false });
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(await send(agent, `https://${host}:${listener.port}/`)).toMatchObject(failure('forbidden-address'));
    }
    expect(listener.sockets.size).toBe(0);
  });

  test('closed in the TLS handshake', async () => {
    const listener = await listening(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject(failure('connection-reset'));
  });

  test('no TLS at all', async () => {
    const listener = await listening(createTcpServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect(await send(await agentOf(), `https://localhost:${listener.port}/`)).toMatchObject(failure('tls'));
  });

  test.each([
    ['a certificate of an unknown authority', ['localhost', '127.0.0.1'], false],
    ['a certificate for another name', ['other.shop.com'], true],
    ['a certificate for another address', ['127.0.0.2'], true],
  ])('%s', async (_, names, trusted) => {
    const receiver = await startReceiver({ names });
    cleanups.push(receiver.close);
    const { cert } = await testAuthority();
    const agent = createEndpointAgent({ allowPrivate: true, connectTimeoutMs: LONG, ...(trusted ? { ca: cert } : {}) });
    cleanups.push(() => agent.destroy());
    expect(await send(agent, `https://localhost:${receiver.port}/`)).toMatchObject(failure('tls'));
    expect(await send(agent, `https://127.0.0.1:${receiver.port}/`)).toMatchObject(failure('tls'));
    expect(receiver.requests).toEqual([]);
  });

  test('a connection that is being made is ended with the agent', async () => {
    const server = createTcpServer((socket) => socket.resume());
    const listener = await listening(server);
    const agent = await agentOf();
    const result = send(agent, `https://localhost:${listener.port}/`);
    await once(server, 'connection');
    await agent.destroy();
    expect(await result).toMatchObject({ kind: 'interrupted' });
    await listener.allClosed();
  });
});

describe('a connection that is reset before the response', () => {
  const reset = (socket: TLSSocket) => socket.destroy();
  const resetAll = (_: TLSSocket, { sockets }: Listener) => {
    for (const socket of sockets) socket.resetAndDestroy();
  };

  test('a fresh one is a failure', async () => {
    const listener = await scripted(reset);
    const result = await send(await agentOf(), `https://localhost:${listener.port}/`);
    expect(result).toMatchObject(failure('connection-reset'));
    expect(listener.counts).toEqual({ connections: 1, requests: 1 });
  });

  test.each<[string, (socket: TLSSocket, listener: Listener) => void]>([
    ['closed', reset],
    ['reset (RST)', resetAll],
  ])('a reused one, %s: sent once more', async (_, end) => {
    const answered = new Set<TLSSocket>();
    const listener = await scripted((socket) => {
      if (answered.has(socket)) end(socket, listener);
      else socket.write(OK);
      answered.add(socket);
    });
    const agent = await agentOf();
    for (const _ of [1, 2]) {
      expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({
        kind: 'delivered',
        status: 200,
      });
    }
    expect(listener.counts).toEqual({ connections: 2, requests: 3 });
  });

  test('a reused one, and the fresh one after it: a failure', async () => {
    let answers = 1;
    const listener = await scripted((socket) => (answers-- > 0 ? socket.write(OK) : reset(socket)));
    const agent = await agentOf();
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({ kind: 'delivered' });
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject(failure('connection-reset'));
    expect(listener.counts).toEqual({ connections: 2, requests: 3 });
  });

  test('a reused one whose response had begun: a failure', async () => {
    let answers = 1;
    const listener = await scripted((socket) => {
      if (answers-- > 0) socket.write(OK);
      else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n');
    });
    const agent = await agentOf();
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject({ kind: 'delivered' });
    expect(await send(agent, `https://localhost:${listener.port}/`)).toMatchObject(failure('connection-reset', 200));
    expect(listener.counts).toEqual({ connections: 1, requests: 2 });
  });
});

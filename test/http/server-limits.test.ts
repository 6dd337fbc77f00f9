import type { ServerLimits } from '../../src/http/listen.js';
import { patience } from '../runner/patience.js';
import { HeldConnection } from '../support/clients/held-connection.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { eventually } from '../support/clocks/eventually.js';
import { startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const START = 'GET /api/webhooks HTTP/1.1\r\nHost: 127.0.0.1\r\n';
const GOOD = head('GET /api/webhooks HTTP/1.1', 'Authorization: Bearer caller-42');
const FAST: Partial<ServerLimits> = { headMs: 150, lookEveryMs: 20 };
/** Where a head has to come in time, on a busy machine too. */
const LESS_FAST = { ...FAST, headMs: Math.ceil(150 * patience()), requestMs: Math.ceil(300 * patience()) };

let api: BareApi | undefined;
let held: HeldConnection[] = [];

afterEach(async () => {
  for (const connection of held) connection.close();
  held = [];
  await api?.close();
  api = undefined;
});

async function started(limits: Partial<ServerLimits>): Promise<BareApi> {
  api = await startBareApi({ limits });
  return api;
}

async function hold(port: number): Promise<HeldConnection> {
  const connection = await HeldConnection.open(port);
  held.push(connection);
  return connection;
}

function holdMany(port: number, count: number): Promise<HeldConnection[]> {
  return Promise.all(Array.from({ length: count }, () => hold(port)));
}

const isAnsweredOn = (connection: HeldConnection, times = 1) =>
  eventually(() => connection.received.split('"total":0').length > times, { message: 'it is not answered' });
const isClosed = (connection: HeldConnection) => eventually(() => connection.isClosed, { message: 'it stays open' });

function expectAnswer(received: string, status: string): void {
  const [top = '', body = ''] = received.split('\r\n\r\n');
  expect(top.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
  expect(top.toLowerCase().split('\r\n')).toEqual(
    expect.arrayContaining(['cache-control: no-store', 'connection: close']),
  );
  expect(JSON.parse(body)).toMatchObject({ success: false, message: expect.any(String), code: expect.any(String) });
}

it('a connection ends with the answer that it gets while the server stops: its next request would be cut off', async () => {
  const { port, close } = await started({});
  const connection = await hold(port);
  connection.send(START);
  await rawRequest(port, GOOD);
  const closing = close();
  api = undefined;
  connection.send('Authorization: Bearer caller-42\r\n\r\n');
  await isAnsweredOn(connection);
  expect(connection.received.toLowerCase()).toContain('\r\nconnection: close\r\n');
  await closing;
});

describe('the head of a request', () => {
  const withHeader = (size: number) => head('GET /nowhere HTTP/1.1', `X: ${'x'.repeat(size)}`);

  it('may have 16 KiB, and is 431 over it, in one header or in many', async () => {
    const { port } = await started({});
    expect((await rawRequest(port, withHeader(16_200))).status).toBe(404);
    expect((await rawRequest(port, withHeader(16_500))).status).toBe(431);
    const many = head('GET / HTTP/1.1', ...Array<string>(2_000).fill('X: 34567890'));
    for (const tooMuch of [many, `GET /${'x'.repeat(17_000)} HTTP/1.1\r\n\r\n`])
      expect((await rawRequest(port, tooMuch)).status).toBe(431);
  });

  it('that never ends is 431 as soon as it is too big, and its connection is closed', async () => {
    const { port } = await started({});
    const connection = (await hold(port)).send(START).keepSending(`X: ${'x'.repeat(4_000)}\r\n`);
    await isClosed(connection);
    expectAnswer(connection.received, '431 Request Header Fields Too Large');
  });
});

describe('slow requests are 408, and their connections are closed', () => {
  it.each<[string, (connection: HeldConnection) => HeldConnection]>([
    ['a head that drips in', (connection) => connection.send(START).keepSending('X: y\r\n')],
    ['a request line that drips in', (connection) => connection.send('GET /').keepSending('x')],
  ])('%s', async (_, misbehave) => {
    const { port } = await started(FAST);
    const connection = misbehave(await hold(port));
    await isClosed(connection);
    expectAnswer(connection.received, '408 Request Timeout');
  });

  it.each([
    ['a body', 'Content-Length: 60000', '{', ' '],
    ['chunks', 'Transfer-Encoding: chunked', '1\r\n{\r\n', '1\r\n \r\n'],
  ])('%s that drip in', async (_, framing, start, drip) => {
    const { port } = await started({ ...FAST, requestMs: 300 });
    const lines = ['Authorization: Bearer caller-42', 'Content-Type: application/json', framing];
    const connection = (await hold(port)).send(head('POST /api/webhooks HTTP/1.1', ...lines) + start).keepSending(drip);
    await isClosed(connection);
    expectAnswer(connection.received, '408 Request Timeout');
  });

  it('a body that drips in after its answer has its connection closed', async () => {
    const { port } = await started(LESS_FAST);
    const lines = ['Content-Type: application/json', 'Content-Length: 60000'];
    const connection = (await hold(port)).send(head('POST /api/webhooks HTTP/1.1', ...lines)).keepSending(' ');
    await isClosed(connection);
    expect(connection.received).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('a connection on which nothing is sent is closed', async () => {
    const { port } = await started(FAST);
    const connection = await hold(port);
    await eventually(() => connection.received !== '', { message: 'it is not answered' });
    expectAnswer(connection.received, '408 Request Timeout');
  });

  it('a second request that is slow is 408 too', async () => {
    const { port } = await started(LESS_FAST);
    const connection = (await hold(port)).send(GOOD);
    await isAnsweredOn(connection);
    connection.received = '';
    connection.send(START).keepSending('X: y\r\n');
    await isClosed(connection);
    expectAnswer(connection.received, '408 Request Timeout');
  });

  it('a connection that rests between two requests is not closed', async () => {
    const { port } = await started(LESS_FAST);
    const [resting, silent] = [await hold(port), await hold(port)];
    resting.send(GOOD);
    await isAnsweredOn(resting);
    resting.received = '';
    await eventually(() => silent.received !== '');
    resting.send(GOOD);
    await isAnsweredOn(resting);
  });
});

describe('connections', () => {
  it('over the limit are closed as they come, and taken again once there is place', async () => {
    const { port } = await started({ connections: 3 });
    const [first] = await holdMany(port, 3);
    const over = (await hold(port)).keepSending(GOOD);
    await isClosed(over);
    expect(over.received).toBe('');
    first?.send(GOOD);
    if (first) await isAnsweredOn(first);
    first?.close();
    await isAnswered(port);
  });

  it('may be as many as MAX_CONNECTIONS', async () => {
    const service = await startApi({ MAX_CONNECTIONS: '2' });
    try {
      await holdMany(service.port, 2);
      await isClosed((await hold(service.port)).keepSending(GOOD));
    } finally {
      await service.close();
    }
  });

  it.each([
    ['no HTTP', '\0\r\n\r\n'],
    ['a head too big', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n`],
    ['a head too slow', START],
  ])('that were refused are given back, though the other side keeps its end open: %s', async (_, nonsense) => {
    const { port } = await started({ ...FAST, connections: 1 });
    const connection = (await hold(port)).send(nonsense);
    await eventually(() => connection.received !== '', { message: 'it is not refused' });
    await isAnswered(port);
  });
});

describe('answers that are not read', () => {
  /** More than the buffers of a connection hold. */
  const FLOOD = head('GET /openapi.json HTTP/1.1').repeat(1_500);

  it('end their connection, and give its place back', async () => {
    const { port } = await started({ stallMs: 150, pipelined: 1_500, connections: 1 });
    (await hold(port)).stopReading().send(FLOOD);
    await isAnswered(port);
  });

  const caller = { accountId: 42, actor: 'a caller', clientId: null };

  /** Each request waits to be let go, in the order in which they were asked for. */
  async function holding(limits: Partial<ServerLimits> = {}): Promise<{ port: number; asked: (() => void)[] }> {
    const asked: (() => void)[] = [];
    const verifyToken = async () => {
      await new Promise<void>((resolve) => asked.push(resolve));
      return { kind: 'verified', caller } as const;
    };
    api = await startBareApi({ limits, parts: { verifyToken } });
    return { port: api.port, asked };
  }

  it('are not those that are still being made: they are waited for', async () => {
    const { port, asked } = await holding({ stallMs: 150 });
    const slow = (await hold(port)).send(GOOD);
    const silent = await hold(port);
    await eventually(() => silent.hasEnded, { message: 'the time has not passed' });
    asked[0]?.();
    await isAnsweredOn(slow);
    slow.received = '';
    slow.send(GOOD);
    await eventually(() => asked.length === 2);
    asked[1]?.();
    await isAnsweredOn(slow);
  });

  it('are made one after the other on a connection, in the order of the requests', async () => {
    const { port, asked } = await holding();
    const connection = (await hold(port)).send(GOOD.repeat(3));
    const other = (await hold(port)).send(GOOD);
    await eventually(() => asked.length === 2, { message: 'the first ones are not asked for' });
    for (const letGo of asked) letGo();
    await eventually(() => asked.length === 3 && other.received !== '', { message: 'the second one is not asked for' });
    asked[2]?.();
    await eventually(() => asked.length === 4, { message: 'the third one is not asked for' });
    asked[3]?.();
    await isAnsweredOn(connection, 3);
  });

  it('are not asked for in any number: a connection with too many unanswered requests is closed', async () => {
    const { port } = await started({ pipelined: 3 });
    const within = await hold(port);
    for (let round = 0; round < 2; round += 1) {
      within.received = '';
      within.send(GOOD.repeat(3));
      await isAnsweredOn(within, 3);
    }
    const over = (await hold(port)).send(GOOD.repeat(4)).keepSending(GOOD);
    await isClosed(over);
    expect(over.received).toBe('');
  });
});

const BODY = head('POST /api/webhooks HTTP/1.1', 'Authorization: Bearer caller-42', 'Content-Length: 60000');

describe.each([
  ['heads', START, 'X: y\r\n'],
  ['bodies', `${BODY}{`, ' '],
])('a slowloris of 200 connections with %s that drip in', (_, start, next) => {
  const drip = async (port: number) => {
    for (const connection of await holdMany(port, 200)) connection.send(start).keepSending(next);
  };

  it('does not keep a good client from its answer', async () => {
    const { port } = await started({});
    await drip(port);
    for (let round = 0; round < 20; round += 1) expect((await rawRequest(port, GOOD)).status).toBe(200);
    expect(held.some((connection) => connection.isClosed)).toBe(false);
  });

  it('that takes up every connection loses them when its time is over', async () => {
    const { port } = await started({ ...FAST, requestMs: 300, connections: 200 });
    await drip(port);
    await isAnswered(port);
    await eventually(() => held.every((connection) => connection.isClosed));
  });
});

/** A good client gets in and is answered, sooner or later. */
async function isAnswered(port: number): Promise<void> {
  const status = () =>
    rawRequest(port, GOOD).then(
      (answer) => answer.status,
      () => 0,
    );
  await eventually(async () => (await status()) === 200, { message: 'a good client is not answered' });
}

/** What the call holds in memory, and what it answers where the broker does not take the events. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Verification } from '../../../src/accounts/access-tokens.js';
import { BrokerRefused, BrokerUnavailable, type NewRecord, RecordRefused } from '../../../src/ports/broker.js';
import { request } from '../../support/clients/api-client.js';
import { head } from '../../support/clients/raw-request.js';
import { eventually } from '../../support/clocks/eventually.js';
import { type BareApi, startBareApi, UNPACED } from '../../support/scenes/bare-api.js';

const NDJSON = 'application/x-ndjson';
const MIB = 1024 * 1024;
const EVENT = '{"id":"a","type":"cash_in","accountId":1}';
/** Not quite 1 MiB, in events of 200 KB. */
const LARGE = `${JSON.stringify({ id: 'a', type: 'cash_in', accountId: 1, x: 'x'.repeat(200_000) })}\n`.repeat(5);
const SMALL = `${EVENT}\n`.repeat(1_000);
/** So many of these are not quite 16 MiB. */
const MOST = Math.floor((16 * MIB) / (LARGE.length + 5 * 256));

let api: BareApi;
let publish: (records: readonly NewRecord[]) => Promise<void>;
let sockets: Socket[];

beforeEach(async () => {
  sockets = [];
  publish = async () => undefined;
  const broker = { publish: (_: string, records: readonly NewRecord[]) => publish(records).then(() => []) };
  const verifyToken = async (publisher: string): Promise<Verification> => {
    return { kind: 'verified', caller: { publisher, accountId: null, actor: publisher, clientId: null } };
  };
  api = await startBareApi({
    parts: { publishing: { broker, topics: ['payment-events'], ...UNPACED }, verifyToken },
  });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await api.close();
});

async function post(bytes: string, publisher = 'one', more: Record<string, string> = {}) {
  const headers = { ...more, authorization: `Bearer ${publisher}`, 'content-type': NDJSON };
  const { status, body, headers: given } = await request(api.url, 'POST', '/api/payment-events', { headers, bytes });
  return { status, message: body.message, retryAfter: given.get('retry-after') };
}

/** Holds everything that is published until the returned function is called. */
function hold(): { held: () => number; release: () => void } {
  let held = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  publish = () => {
    held += 1;
    return released;
  };
  return { held: () => held, release };
}

it('a publisher has at most 16 MiB in progress, and gets room when they are durable; another has its own', async () => {
  const broker = hold();
  const first = Array.from({ length: MOST }, () => post(LARGE));
  await eventually(() => broker.held() === MOST);
  const message = expect.stringContaining('nothing');
  expect(await post(LARGE)).toMatchObject({ status: 503, retryAfter: '1', message });
  const other = post(LARGE, 'two');
  await eventually(() => broker.held() === MOST + 1);
  broker.release();
  expect(new Set((await Promise.all([...first, other])).map(({ status }) => status))).toEqual(new Set([202]));
  expect(await post(LARGE)).toMatchObject({ status: 202 });
});

it('all publishers together have at most 64 MiB in progress', async () => {
  const broker = hold();
  const names = ['one', 'two', 'three', 'four'];
  const posts = names.flatMap((name) => Array.from({ length: MOST }, () => post(LARGE, name)));
  await eventually(() => broker.held() === posts.length);
  const late = Array.from({ length: 5 }, () => post(LARGE, 'five'));
  expect(await Promise.race(late)).toMatchObject({ status: 503 });
  broker.release();
  for (const { status } of await Promise.all(posts)) expect(status).toBe(202);
  await Promise.all(late);
});

const TRACED = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: `a=${'x'.repeat(250)}` };

it.each<[string, number, Record<string, string>]>([
  ['many small events count as more than their bytes', 60, {}],
  ['the headers of a request count with each of its events: without them 40 requests have room', 40, TRACED],
])('%s', async (_, requests, headers) => {
  const broker = hold();
  const posts = Array.from({ length: requests }, () => post(SMALL, 'one', headers));
  await eventually(async () => (await Promise.race([...posts, null]))?.status === 503);
  broker.release();
  await Promise.all(posts);
});

it('a body counts while it is received, and no longer once its connection is closed', async () => {
  const lines = [`Authorization: Bearer one`, `Content-Type: ${NDJSON}`, `Content-Length: ${LARGE.length}`];
  const allButOneByte = async () => {
    const socket = connect(api.port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(head('POST /api/payment-events HTTP/1.1', ...lines) + LARGE.slice(0, -1));
  };
  for (let n = 0; n < MOST; n += 1) await allButOneByte();
  // A body that is still read may lose its room to the one that asks, so each question brings another.
  await eventually(async () => {
    await allButOneByte();
    return (await post(LARGE)).status === 503;
  });
  for (const socket of sockets) socket.destroy();
  await eventually(async () => (await post(LARGE)).status === 202);
});

it.each<[string, Error, object]>([
  ['is away', new BrokerUnavailable('x'), { status: 503, retryAfter: '5', message: expect.stringContaining('again') }],
  ['refuses us', new BrokerRefused('x'), { status: 503, retryAfter: '5' }],
  ['takes no event of that size', new RecordRefused('x'), { status: 503, retryAfter: '5' }],
  ['fails otherwise', new Error('planted'), { status: 500, message: 'internal error' }],
])('where the broker %s the answer is no success', async (_, error, answer) => {
  publish = () => Promise.reject(error);
  expect(await post(EVENT)).toMatchObject(answer);
});

it('where the events are refused, no bytes of them stay counted', async () => {
  const wrong = LARGE.replaceAll('cash_in', 'cash_no');
  for (let n = 0; n < 2 * MOST; n += 1) expect((await post(wrong)).status).toBe(400);
  for (let n = 0; n < 20; n += 1) expect((await post('x'.repeat(MIB + 1))).status).toBe(413);
  expect((await post(LARGE)).status).toBe(202);
});

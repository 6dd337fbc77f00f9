import { gzipSync } from 'node:zlib';
import type { Client } from '../../support/clients/api-client.js';
import { head, rawRequest } from '../../support/clients/raw-request.js';
import { type RunningApi, startApi } from '../../support/scenes/api-fixture.js';

const NDJSON = 'application/x-ndjson';
const CLOUD_EVENT = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json';
const MIB = 1024 * 1024;

let api: RunningApi;
let publisher: Client<{ clientId: string; clientSecret: string }>;
let before = 0;

beforeAll(async () => {
  api = await startApi({ PAYMENT_TOPICS: 'payment-events,more-events' });
  publisher = await api.publisher('payments.br');
});

afterAll(() => api.close());

beforeEach(async () => {
  before = (await api.records()).length;
});

const published = async () => (await api.records()).slice(before);
const values = async () => (await published()).map(({ value }) => value?.toString());
const event = (id: string, more: object = {}) => JSON.stringify({ id, type: 'cash_in', accountId: 42, ...more });
const cloudEvent = (id: string, more: object = {}) =>
  JSON.stringify({ specversion: '1.0', id, source: '/pay', type: 'a.b.cash_in', data: { accountId: 42 }, ...more });
const HEADERS = {
  ...{ 'ce-specversion': '1.0', 'ce-id': 'b-1', 'ce-source': '/pay', 'ce-type': 'cash_in', 'ce-accountid': '42' },
};

/** By hand: lines of the head, then the body. @returns the status and the body */
function raw(lines: readonly string[], ...body: readonly string[]) {
  const authorization = `Authorization: Bearer ${publisher.token}`;
  return rawRequest(api.port, head('POST /api/payment-events HTTP/1.1', authorization, ...lines), ...body);
}

async function accepts(events: number, ...request: Parameters<typeof publisher.publish>): Promise<void> {
  expect(await publisher.publish(...request)).toMatchObject({ status: 202, body: { accepted: events } });
}

describe('the record', () => {
  it('has the bytes of the body, the account as its key, and no header', async () => {
    const body = ' {"type":"cash_in", "id":"p-1","accountId":4.2e1,"amount":10.00000000000000000001,"amount":1} ';
    const answer = { success: true, message: '1 event was published', accepted: 1 };
    for (const _ of ['published', 'published again'])
      expect(await publisher.publish(body)).toMatchObject({ status: 202, body: answer });
    const record = { key: Buffer.from('42'), value: Buffer.from(body), headers: [] };
    expect(await published()).toMatchObject([record, record]);
  });

  it('of each line has the bytes of the line; empty lines are skipped', async () => {
    const lines = [event('l-1'), '', `${event('l-2')}\r`, ' \t\r', ` ${cloudEvent('l-3')}`];
    await accepts(3, lines.join('\n'), NDJSON);
    expect(await values()).toEqual([lines[0], event('l-2'), lines[4]]);
  });

  it('of each element of a batch has the bytes of the element', async () => {
    const odd =
      '{ "specversion":"1.0","id":"],[{\\"","source":"/p\\\\","type":"cash_in", "data":{"accountId":7,"n":1.0} }';
    await accepts(2, `[\n${cloudEvent('e-1')} ,${odd}\t]`, BATCH);
    expect(await values()).toEqual([cloudEvent('e-1'), odd]);
    expect((await published()).map(({ key }) => key?.toString())).toEqual(['42', '7']);
  });

  it('of a structured CloudEvent says so in its content type', async () => {
    await publisher.publish(cloudEvent('s-1'), `${CLOUD_EVENT}; charset=UTF-8`);
    const headers = [['content-type', Buffer.from('application/cloudevents+json; charset=utf-8')]];
    expect(await published()).toMatchObject([{ value: Buffer.from(cloudEvent('s-1')), headers }]);
  });

  it('of a binary CloudEvent has its attributes as headers, decoded once', async () => {
    const attributes = { ...HEADERS, 'ce-subject': 'a b%20%E2%82%AC%2541', 'ce-not-one': 'x', 'x-other': 'y' };
    await accepts(1, Buffer.of(0, 255), 'image/png', { headers: attributes });
    const [record] = await published();
    expect(Object.fromEntries(record?.headers.map(([name, value]) => [name, value.toString()]) ?? [])).toEqual({
      ...{ 'content-type': 'image/png', ce_specversion: '1.0', ce_id: 'b-1', ce_source: '/pay', ce_type: 'cash_in' },
      ...{ ce_accountid: '42', ce_subject: 'a b €%41' },
    });
    expect(record?.value).toEqual(Buffer.of(0, 255));
  });

  it('has no header for an attribute that a header without a value leaves out', async () => {
    const headers = { ...HEADERS, 'ce-accountid': '', 'ce-subject': '' };
    await accepts(1, '{"accountId":42}', 'application/json', { headers });
    await accepts(1, event('p-2'), 'application/json', { headers: { 'ce-specversion': '' } });
    expect((await published())[1]?.headers).toEqual([]);
  });

  it('of a binary CloudEvent with JSON data is not taken for a plain event', async () => {
    await publisher.publish(event('not-this'), 'application/json', { headers: HEADERS });
    expect((await published())[0]?.headers).toContainEqual(['ce_id', Buffer.from('b-1')]);
  });

  it('continues the trace and has the correlation id, if they are well-formed', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const good = { traceparent, tracestate: 'a=1', 'x-correlation-id': 'order-7' };
    await publisher.publish(`${event('t-1')}\n${event('t-2')}`, NDJSON, { headers: good });
    await publisher.publish(event('t-3'), NDJSON, { headers: { traceparent: 'x', 'x-correlation-id': 'a b' } });
    const headers = (await published()).map((record) => record.headers.map(([name, value]) => `${name}: ${value}`));
    const all = [`traceparent: ${traceparent}`, 'tracestate: a=1', 'x-correlation-id: order-7'];
    expect(headers).toEqual([all, all, []]);
  });

  it('is in the topic that the query names', async () => {
    await accepts(1, event('m-1'), NDJSON, { to: '?topic=more-events' });
    expect(await published()).toEqual([]);
    expect((await api.records('more-events')).map(({ value }) => value?.toString())).toEqual([event('m-1')]);
  });

  it.each([
    ['\n\r\n', NDJSON],
    [' [ ] ', BATCH],
  ])('is none for no event: %j', async (body, type) => {
    await accepts(0, body, type);
    expect(await published()).toEqual([]);
  });

  it('keeps the order of 1,000 events', async () => {
    const lines = Array.from({ length: 1_000 }, (_, n) => event(`n-${n}`, { accountId: n % 3 }));
    await accepts(1_000, lines.join('\n'), NDJSON);
    expect(await values()).toEqual(lines);
  });

  it('of a body in chunks is like any other', async () => {
    const text = event('chunks');
    const parts = [text.slice(0, 5), text.slice(5), ''];
    const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
    const { status } = await raw([`Content-Type: ${NDJSON}`, 'Transfer-Encoding: chunked'], chunks);
    expect([status, await values()]).toEqual([202, [text]]);
  });
});

describe('nothing is published', () => {
  afterEach(async () => {
    expect(await published()).toEqual([]);
  });

  it.each<[string, string, string, string]>([
    ['an unknown type', '{"id":"a","type":"x","accountId":1}', '[0].type', 'type is not a known event type'],
    ['no account', '{"id":"a","type":"cash_in"}', '[0].accountId', 'accountId is missing'],
    ['a byte order mark', `\ufeff${event('a')}`, '[0]', 'the record begins with a byte order mark'],
    ['no body', '', '[0]', 'the record has no value'],
    ['an array', `[${event('a')}]`, '[0]', 'the record must be object'],
    ['more than 256 KiB', event('a', { x: 'x'.repeat(262_144) }), '[0]', 'the record has more than 262144 bytes'],
    ['more than 512 KiB', event('a', { x: 'x'.repeat(524_288) }), '[0]', 'key, headers and value have together more than 524288 bytes'], // biome-ignore format: one case a line
    ['deep nesting', `${'['.repeat(130_000)}${']'.repeat(130_000)}`, '[0]', 'the record must be object'],
  ])('for %s, with the words of the dispatcher', async (_, body, field, reason) => {
    const message = `[0] is not a payment event: ${reason}.`;
    const errors = [{ field, message, code: 'not-a-payment-event', params: { event: '[0]' } }];
    expect(await publisher.publish(body)).toMatchObject({
      status: 400,
      body: { message: 'nothing was published: see errors', code: 'invalid-events', errors },
    });
  });

  it('where one of several is wrong; each wrong one is named by its index, without empty lines', async () => {
    const lines = [event('a'), '', event('b', { type: 'x' }), 'no', event('c'), event('d', { accountId: '1' })];
    const answer = await publisher.publish(lines.join('\n'), NDJSON);
    expect(answer.status).toBe(400);
    expect(answer.body.errors?.map(({ field }) => field)).toEqual(['[1].type', '[2]', '[4].accountId']);
  });

  it.each<[string, string, string, string, object?]>([
    ['no version', '{"id":"a","source":"b","type":"cash_in"}', CLOUD_EVENT, '[0].specversion'],
    ['a wrong element', `[${cloudEvent('a')},${cloudEvent('b', { type: 'x' })}]`, BATCH, '[1].type'],
    ['an element without a version', '[{"id":"a"}]', BATCH, '[0].specversion'],
    ['a number as element', '[1]', BATCH, '[0]'],
    ['an element that is missing', `[${cloudEvent('a')},]`, BATCH, '[1]'],
    ['an element that is no JSON', `[${cloudEvent('a')},{"id]`, BATCH, '[1]'],
    ['no id in a header', '{}', 'application/json', '[0].ce_id', { 'ce-id': '' }],
    ['another version in a header', '{}', 'application/json', '[0].ce_specversion', { 'ce-specversion': '0.3' }],
  ])('for a CloudEvent with %s', async (_, body, type, field, ...[changes]) => {
    const given = changes ? { headers: { ...HEADERS, ...changes } } : {};
    expect(await publisher.publish(body, type, given)).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it.each(['{}', '', '[', '[1]x'])('for a batch that is no array: %j', async (body) => {
    expect(await publisher.publish(body, BATCH)).toMatchObject({ status: 400, body: { code: 'body-not-array' } });
  });

  it('for a repeated attribute with different values', async () => {
    const lines = Object.entries({ ...HEADERS, 'CE-Id': 'b-2' }).map(([name, value]) => `${name}: ${value}`);
    const { status, body } = await raw(lines);
    expect({ status, body }).toEqual({ status: 400, body: expect.stringContaining('ce_id is repeated') });
  });

  it.each(['?topic=', '?topic=webhooks.deliveries', '?topic=payment-events&topic=more-events'])(
    'for a topic that is no payment topic: %s',
    async (to) => {
      const errors = [{ field: 'topic', message: 'topic must be one of payment-events, more-events.' }];
      expect(await publisher.publish(event('a'), NDJSON, { to })).toMatchObject({ status: 400, body: { errors } });
    },
  );

  it.each(['text/plain', 'application/jsonx', 'application/cloudevents', 'application/cloudevents+avro'])(
    'of the type %s, or compressed',
    async (type) => {
      expect((await publisher.publish(event('a'), type)).status).toBe(415);
      const headers = { 'content-encoding': 'gzip' };
      expect((await publisher.publish(gzipSync(event('a')), NDJSON, { headers })).status).toBe(415);
    },
  );

  it('of more than 1 MiB, announced or in chunks, or more than 1,000 events', async () => {
    const chunked = [`Content-Type: ${NDJSON}`, 'Transfer-Encoding: chunked'];
    expect((await raw(chunked, `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17))).status).toBe(413);
    expect((await publisher.publish(' '.repeat(MIB + 1), NDJSON)).status).toBe(413);
    expect((await publisher.publish(`${'x'}\n`.repeat(500_000), NDJSON)).status).toBe(413);
    expect((await publisher.publish(`[${Array(1_001).fill(cloudEvent('x'))}]`, BATCH)).status).toBe(413);
    expect((await publisher.publish(' '.repeat(MIB), NDJSON)).status).toBe(202);
  });
});

import { gzipSync } from 'node:zlib';
import type { Client } from '../support/clients/api-client.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

const LIMIT = 65_536;
const JSON_TYPE = 'Content-Type: application/json';

let api: RunningApi;
let client: Client;

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
});

afterAll(() => api.close());

const GOOD = '{"url":"https://shop.example.com/in","eventType":"cash_in"}';
const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

/** A good body of that many bytes; what fills it is an unknown field. */
function bodyOf(size: number): string {
  const empty = GOOD.replace('}', ',"fill":""}');
  return empty.replace('""}', `"${'x'.repeat(size - empty.length)}"}`);
}

/** POST by hand: lines of the head, then the body. */
function raw(lines: readonly string[], ...body: readonly (string | Buffer)[]) {
  const authorization = `Authorization: Bearer ${client.token}`;
  return rawRequest(api.port, head('POST /api/webhooks HTTP/1.1', authorization, ...lines), ...body);
}

function chunks(body: string, size = 10_000): string {
  const parts = body.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
}

const chunked = (body: string) => raw([JSON_TYPE, 'Transfer-Encoding: chunked'], chunks(body));

describe('the media type', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'Application/Json;charset="UTF-8";version=1',
    'application/json;',
    'application/json ; =;;',
    'application/json; charset=utf-16',
    'application/json; charset="',
    'application/json; charset=a b; =; é',
  ])('%s is taken', async (type) => {
    expect(await client.post(GOOD, { 'content-type': type })).toMatchObject({ status: 200, body: { success: true } });
  });

  it.each([
    ...['text/plain', 'text/json', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a', 'json'],
    ...['application/jsonp', 'application/json-patch+json', 'application/vnd.api+json', 'application/problem+json'],
    ...['application/*', '*/*', 'application/json, text/plain', 'application/json text/plain', 'application / json'],
    ...['text/plain; application/json', ';application/json'],
  ])('%s is 415', async (type) => {
    const { status, body } = await client.post(GOOD, { 'content-type': type });
    expect({ status, body }).toMatchObject({
      status: 415,
      body: { success: false, message: expect.any(String), code: expect.any(String) },
    });
  });

  it.each([
    ['none', []],
    ['an empty one', ['Content-Type:']],
  ])('%s is 415, with a body and without', async (_, lines) => {
    expect((await raw([...lines, `Content-Length: ${GOOD.length}`], GOOD)).status).toBe(415);
    expect((await raw([...lines, 'Content-Length: 0'])).status).toBe(415);
  });
});

describe('the size', () => {
  it('65,536 bytes are taken, and one more is 413', async () => {
    expect((await client.post(bodyOf(LIMIT))).status).toBe(200);
    const { status, body } = await client.post(bodyOf(LIMIT + 1));
    expect({ status, body }).toMatchObject({
      status: 413,
      body: { success: false, message: expect.any(String), code: expect.any(String) },
    });
  });

  it('65,536 bytes are taken in chunks, and one more is 413', async () => {
    expect((await chunked(bodyOf(LIMIT))).status).toBe(200);
    expect((await chunked(bodyOf(LIMIT + 1))).status).toBe(413);
  });

  it('is counted in bytes, not in characters', async () => {
    const fill = 'é'.repeat((LIMIT - bodyOf(100).length) / 2 + 100);
    expect((await client.post(GOOD.replace('}', `,"fill":"${fill}"}`))).status).toBe(413);
  });

  it('counts before the content does: what is too big is 413, JSON or not', async () => {
    expect((await client.post('x'.repeat(LIMIT + 1))).status).toBe(413);
    expect((await client.post(' '.repeat(LIMIT + 1))).status).toBe(413);
  });

  it('a body that never ends is 413 as soon as it is too big', async () => {
    const part = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    expect((await raw([JSON_TYPE, 'Transfer-Encoding: chunked'], part.repeat(7))).status).toBe(413);
  });

  it('an announced length that is too big is 413 before any byte of the body', async () => {
    expect((await raw([JSON_TYPE, `Content-Length: ${LIMIT + 1}`])).status).toBe(413);
    expect((await raw([JSON_TYPE, 'Content-Length: 99999999999'])).status).toBe(413);
  });
});

describe('a length that is not the true one', () => {
  it('cuts the body short, which is 400', async () => {
    expect((await raw([JSON_TYPE, `Content-Length: ${GOOD.length - 1}`], GOOD)).status).toBe(400);
  });

  it.each(['-1', '1e3', '0x10', '5, 6', 'NaN'])('%s is 400', async (length) => {
    expect((await raw([JSON_TYPE, `Content-Length: ${length}`], GOOD)).status).toBe(400);
  });

  it('beside chunks is 400: one request must not be two', async () => {
    const both = [JSON_TYPE, 'Transfer-Encoding: chunked', `Content-Length: ${GOOD.length}`];
    expect((await raw(both, chunks(GOOD))).status).toBe(400);
  });
});

describe('a body that is not a JSON object in UTF-8 is 400', () => {
  const url = '"url":"https://shop.example.com/';
  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['white space', ' \n'],
    ['null', 'null'],
    ['a list', `[${GOOD}]`],
    ['an empty list', '[]'],
    ['text', '"https://shop.example.com/in"'],
    ['a number', '42'],
    ['true', 'true'],
    ['an object cut short', GOOD.slice(0, -1)],
    ['something behind it', `${GOOD},`],
    ['two objects', GOOD + GOOD],
    ['single quotes', GOOD.replaceAll('"', "'")],
    ['a trailing comma', GOOD.replace('}', ',}')],
    ['a comment', `/* */${GOOD}`],
    ['NaN', GOOD.replace('}', ',"n":NaN}')],
    ['a form', 'url=https%3A%2F%2Fshop.example.com%2Fin&eventType=cash_in'],
    ['a NUL behind it', `${GOOD}\0`],
    ['a line end within text', `{${url}\n","eventType":"cash_in"}`],
    ['a byte that UTF-8 never has', bytes(`{${url}`, 0xff, '","eventType":"cash_in"}')],
    ['UTF-8 cut short', bytes(`{${url}`, 0xc3, '","eventType":"cash_in"}')],
    ['Latin-1', Buffer.from(`{${url}ä","eventType":"cash_in"}`, 'latin1')],
    ['an overlong slash', bytes(`{${url}`, 0xc0, 0xaf, '","eventType":"cash_in"}')],
    ['a surrogate in UTF-8', bytes(`{"x":"`, 0xed, 0xa0, 0x80, `",${GOOD.slice(1)}`)],
    ['UTF-16', Buffer.from(GOOD, 'utf16le')],
    ['nesting that is never closed', '['.repeat(60_000)],
  ])('%s', async (_, sent) => {
    const { status, body } = await client.post(sent);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { success: false, message: expect.stringMatching(/body/), code: expect.any(String) },
    });
  });

  it('but a byte order mark before it does not matter', async () => {
    expect((await client.post(`\ufeff${GOOD}`)).status).toBe(200);
  });

  it('compressed it is 415, and as it is 200', async () => {
    expect((await client.post(gzipSync(GOOD), { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await client.post(GOOD, { 'content-encoding': 'compress' })).status).toBe(415);
    expect((await client.post(GOOD, { 'content-encoding': 'Identity' })).status).toBe(200);
  });
});

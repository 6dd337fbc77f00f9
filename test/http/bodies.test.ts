import { gzipSync } from 'node:zlib';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const LIMIT = 65_536;
const JSON_TYPE = 'Content-Type: application/json';
const GOOD = '{"url":"https://shop.example.com/in","eventType":"cash_in"}';

let api: BareApi;

beforeAll(async () => {
  api = await startBareApi();
});

afterAll(() => api.close());

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

/** A good body of that many bytes; what fills it is an unknown field. */
function bodyOf(size: number): string {
  const empty = GOOD.replace('}', ',"fill":""}');
  return empty.replace('""}', `"${'x'.repeat(size - empty.length)}"}`);
}

const post = (body: string | Buffer, headers?: Readonly<Record<string, string>>) => api.client().post(body, headers);

/** POST by hand: lines of the head, then the body. @returns the status */
async function raw(lines: readonly string[], ...body: readonly (string | Buffer)[]): Promise<number> {
  const all = ['POST /api/webhooks HTTP/1.1', 'Authorization: Bearer caller-42', ...lines];
  return (await rawRequest(api.port, head(...all), ...body)).status;
}

function chunked(body: string): Promise<number> {
  const parts = body.match(/.{1,10000}/g) ?? [];
  const chunks = [...parts, ''].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  return raw([JSON_TYPE, 'Transfer-Encoding: chunked'], chunks.join(''));
}

describe('the media type', () => {
  it.each([
    ...['application/json', 'APPLICATION/JSON', 'Application/Json;charset="UTF-8";version=1', 'application/json ; =;;'],
    ...['application/json; charset=utf-16', 'application/json; charset="', 'application/json; charset=a b; =; é'],
  ])('%s is taken', async (type) => {
    expect(await post(GOOD, { 'content-type': type })).toMatchObject({ status: 200, body: { success: true } });
  });

  it.each([
    ...['text/plain', 'application/x-www-form-urlencoded', 'json', 'application/jsonp', 'application/json-patch+json'],
    ...['application/*', '*/*', 'application/json, text/plain', 'application/json text/plain', 'application / json'],
    ...['text/plain; application/json', ';application/json'],
  ])('%s is 415', async (type) => {
    expect(await post(GOOD, { 'content-type': type })).toMatchObject({ status: 415 });
  });

  it.each([
    ['none', []],
    ['an empty one', ['Content-Type:']],
  ])('%s is 415, with a body and without', async (_, lines) => {
    expect(await raw([...lines, `Content-Length: ${GOOD.length}`], GOOD)).toBe(415);
    expect(await raw([...lines, 'Content-Length: 0'])).toBe(415);
  });

  it('of what is compressed does not matter: that is 415, and as it is 200', async () => {
    expect((await post(gzipSync(GOOD), { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post(GOOD, { 'content-encoding': 'compress' })).status).toBe(415);
    expect((await post(GOOD, { 'content-encoding': 'Identity' })).status).toBe(200);
  });
});

describe('the size', () => {
  it('of 65,536 bytes is taken, in chunks too, and one more is 413', async () => {
    const sizes = [LIMIT, LIMIT + 1];
    for (const [index, size] of sizes.entries()) {
      const answers = [(await post(bodyOf(size))).status, await chunked(bodyOf(size))];
      expect({ size, answers }).toEqual({ size, answers: Array(2).fill([200, 413][index]) });
    }
  });

  it('is counted in bytes, not in characters, and before the content, JSON or not', async () => {
    const fill = 'é'.repeat((LIMIT - bodyOf(100).length) / 2 + 100);
    for (const body of [GOOD.replace('}', `,"fill":"${fill}"}`), 'x'.repeat(LIMIT + 1)])
      expect((await post(body)).status).toBe(413);
  });

  it('of a body that never ends is 413 as soon as it is too big', async () => {
    const part = `2710\r\n${'x'.repeat(10_000)}\r\n`;
    expect(await raw([JSON_TYPE, 'Transfer-Encoding: chunked'], part.repeat(7))).toBe(413);
  });

  it('that is announced and too big is 413 before any byte of the body', async () => {
    for (const length of [LIMIT + 1, 99_999_999_999])
      expect(await raw([JSON_TYPE, `Content-Length: ${length}`])).toBe(413);
  });
});

describe('a body that is not a JSON object in UTF-8 is 400', () => {
  const url = '"url":"https://shop.example.com/';
  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['null', 'null'],
    ['a list', `[${GOOD}]`],
    ['text', '"https://shop.example.com/in"'],
    ['an object cut short', GOOD.slice(0, -1)],
    ['two objects', GOOD + GOOD],
    ['a trailing comma', GOOD.replace('}', ',}')],
    ['a NUL behind it', `${GOOD}\0`],
    ['a byte that UTF-8 never has', bytes(`{${url}`, 0xff, '","eventType":"cash_in"}')],
    ['UTF-8 cut short', bytes(`{${url}`, 0xc3, '","eventType":"cash_in"}')],
    ['Latin-1', Buffer.from(`{${url}ä","eventType":"cash_in"}`, 'latin1')],
    ['an overlong slash', bytes(`{${url}`, 0xc0, 0xaf, '","eventType":"cash_in"}')],
    ['a surrogate in UTF-8', bytes(`{"x":"`, 0xed, 0xa0, 0x80, `",${GOOD.slice(1)}`)],
    ['UTF-16', Buffer.from(GOOD, 'utf16le')],
    ['nesting that is never closed', '['.repeat(60_000)],
  ])('%s', async (_, sent) => {
    expect(await post(sent)).toMatchObject({ status: 400, body: { message: expect.stringMatching(/body/) } });
  });

  it('but a byte order mark before it does not matter', async () => {
    expect((await post(`\ufeff${GOOD}`)).status).toBe(200);
  });
});

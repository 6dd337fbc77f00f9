/** Bytes that no client sends: refused with a 4xx in the shape of all others, or by a closed connection. */
import fc from 'fast-check';
import { SEED } from '../runner/seed.js';
import { inFull } from '../runner/thorough.js';
import { head, type RawAnswer, rawRequest } from '../support/clients/raw-request.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const RUNS = Number(process.env.FUZZ_RAW ?? inFull(500, 100));
const BEARER = 'Authorization: Bearer caller-42';

let api: BareApi;

beforeAll(async () => {
  api = await startBareApi();
});

// The service goes on, and nothing that was asked for here is its own error.
afterEach(async () => {
  expect((await api.client().list()).total).toBe(0);
  expect(api.logger.errors).toEqual([]);
});

afterAll(() => api.close());

const get = (...lines: readonly string[]) => head('GET /api/webhooks HTTP/1.1', ...lines);
const post = (body: string, ...lines: readonly string[]) =>
  head('POST /api/webhooks HTTP/1.1', BEARER, 'Content-Type: application/json', ...lines) + body;

/** Null where the connection was closed without a word. */
async function answerTo(text: string): Promise<RawAnswer | null> {
  try {
    return await rawRequest(api.port, Buffer.from(text, 'latin1'));
  } catch (error) {
    if (/the connection ended after: $/.test((error as Error).message)) return null;
    throw error;
  }
}

function expectRefusal(answer: RawAnswer | null): void {
  if (answer === null) return;
  expect(Math.floor(answer.status / 100)).toBe(4);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  // Of the first answer: another may come behind it.
  const first = answer.body.slice(0, Number(answer.headers.get('content-length')));
  expect(JSON.parse(first)).toMatchObject({ success: false, message: expect.any(String), code: expect.any(String) });
}

describe('a request line is refused:', () => {
  it.each([
    ...['GET /api/webhooks HTTP/9.9', 'GET /api/webhooks HTTP/2.0', 'GET /api/webhooks', 'GET  /api/webhooks HTTP/1.1'],
    ...['get /api/webhooks HTTP/1.1', 'G\0T / HTTP/1.1', 'GET\t/ HTTP/1.1', 'GET /\0 HTTP/1.1', 'GET /\xe9 HTTP/1.1'],
    ...['GET http://[ HTTP/1.1', 'GET // HTTP/1.1', 'GET //api/webhooks HTTP/1.1', 'GET ? HTTP/1.1', 'GET * HTTP/1.1'],
    ...['OPTIONS * HTTP/1.1', 'CONNECT localhost:1 HTTP/1.1', 'CONNECT / HTTP/1.1', 'PRI * HTTP/2.0', 'FOO / HTTP/1.1'],
    ...['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '\0', '\xff\xfe', ' GET / HTTP/1.1', 'GET / HTTP/1.1 x', ':'],
    ...['DELETE /api/webhooks/%00 HTTP/1.1', 'GET /api/webhooks/../../etc/passwd HTTP/1.1', 'GET #x HTTP/1.1'],
    ...['GET http://other.example/api/webhooks HTTP/1.1', 'GET http://u:p@/api/webhooks HTTP/1.1'],
    ...['GET /api\\webhooks HTTP/1.1', 'POST /api/webhooks?__proto__[a]=1 HTTP/1.1'],
  ])('%j', async (line) => {
    expectRefusal(await answerTo(head(line, ...(line.includes('?') ? [BEARER] : []))));
  });
});

describe('a header is refused:', () => {
  it.each([
    ...['Content Length: 1', 'X\0: y', 'X: \0', ': x', 'X', 'X : y', 'X: y\rZ: a', 'X: y\nZ: a', ' folded: x'],
    ...['\xff: x', 'Authorization: \xff\xfe', 'Host: a\r\nHost: b', 'Host: \0', 'Host: [', 'Cookie: \x7f'],
    ...['Content-Length: -1', 'Content-Length: +1', 'Content-Length: 1, 1', 'Content-Length: 0\r\nContent-Length: 1'],
    ...[
      'Content-Length: 99999999999999999999',
      'Content-Length: 0x1',
      'Content-Length:',
      'Transfer-Encoding: nonsense',
    ],
    ...['Connection: upgrade\r\nUpgrade: websocket', 'Connection: upgrade\r\nUpgrade: h2c', 'Expect: the-impossible'],
  ])('%j', async (line) => {
    expectRefusal(await answerTo(get(line)));
  });
});

describe('a body is refused:', () => {
  it.each([
    ['a chunk of no size', post('zz\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['a chunk of a negative size', post('-1\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['a chunk larger than any', post(`${'f'.repeat(17)}\r\n{}\r\n`, 'Transfer-Encoding: chunked')],
    ['a chunk longer than it says', post('1\r\n{}\r\n0\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['both ways to say how long', post('0\r\n\r\n', 'Transfer-Encoding: chunked', 'Content-Length: 5')],
    ['encoded twice', post('0\r\n\r\n', 'Transfer-Encoding: gzip, chunked')],
    ['not chunked at last', post('0\r\n\r\n', 'Transfer-Encoding: chunked, identity')],
    ['NUL in a trailer', post('2\r\n{}\r\n0\r\nX: \0\r\n\r\n', 'Transfer-Encoding: chunked')],
    ['another request behind it', post('{}GET / HTTP/1.1\r\n\r\n', 'Content-Length: 2')],
    ['a length of digits and a letter', post('{}', 'Content-Length: 1e3')],
    ['a length cut short', post('{"url":"https://a.com/","eventType":"cash_in"}', 'Content-Length: 20')],
  ])('%s', async (_, request) => {
    expectRefusal(await answerTo(request));
  });
});

it(`a good request with one byte changed, ${RUNS} times (TEST_SEED=${SEED}): no crash, and no 5xx`, async () => {
  const good = get(BEARER, 'Accept: */*');
  const end = good.length - '\r\n\r\n'.length;
  const change = fc.record({ at: fc.nat(end - 1), byte: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(change, async ({ at, byte }) => {
      const answer = await answerTo(good.slice(0, at) + String.fromCharCode(byte) + good.slice(at + 1));
      if (answer?.status !== 200) expectRefusal(answer);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

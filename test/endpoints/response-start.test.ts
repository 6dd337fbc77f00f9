import { ResponseStart } from '../../src/endpoints/response-start.js';

const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n';

function statusOf(...chunks: readonly string[]): number | null {
  const start = new ResponseStart();
  start.begin();
  for (const chunk of chunks) start.came(Buffer.from(chunk, 'latin1'));
  return start.status;
}

describe('the status of a response', () => {
  it.each([
    ['a line', 200, 'HTTP/1.1 200 OK\r\n'],
    ['no reason', 204, 'HTTP/1.1 204\r\n'],
    ['an empty reason', 204, 'HTTP/1.1 204 \r\n'],
    ['a bare line feed', 200, 'HTTP/1.0 200 OK\n'],
    ['a short version and spaces', 500, 'HTTP/2   500 Error\r\n'],
    ['empty lines before it', 200, '\r\n\n\r\n\rHTTP/1.1 200 OK\r\n'],
    ['101', 101, 'HTTP/1.1 101 Switching Protocols\r\n'],
    ['informational heads before it', 429, `${EARLY_HINTS}HTTP/1.1 102 \n\n${EARLY_HINTS}HTTP/1.1 429 \r\n`],
  ])('is read from %s', (_, status, text) => expect(statusOf(text)).toBe(status));

  it('is read from chunks of one byte', () => {
    expect(statusOf(...`${EARLY_HINTS}HTTP/1.1 503 Busy\r\n`)).toBe(503);
  });

  it.each([
    ['no bytes', ''],
    ['no line end', 'HTTP/1.1 200 OK'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['four digits', 'HTTP/1.1 2000 OK\r\n'],
    ['two digits', 'HTTP/1.1 20 OK\r\n'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n'],
    ['a carriage return within the line', 'HTTP/1.1 200 O\rK\r\n'],
    ['an unfinished informational head', 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n'],
    ['a line within an informational head', 'HTTP/1.1 103 Early Hints\r\nHTTP/1.1 200 OK\r\n'],
    ['text before the line', 'x HTTP/1.1 200 OK\r\n'],
  ])('is null for %s', (_, text) => expect(statusOf(text)).toBeNull());

  it('is not read beyond 34 KiB', () => {
    const hints = (bytes: number) => `HTTP/1.1 103 Early Hints\r\nlink: ${'a'.repeat(bytes)}\r\n\r\n`;
    expect(statusOf(`${hints(33 * 1_024)}HTTP/1.1 200 OK\r\n`)).toBe(200);
    expect(statusOf(`${hints(34 * 1_024)}HTTP/1.1 200 OK\r\n`)).toBeNull();
  });
});

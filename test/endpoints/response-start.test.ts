import { ResponseStart } from '../../src/endpoints/response-start.js';

const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n';
const REST = 'HTTP/1.1 200 OK\r\ncontent-length: 22\r\n\r\nHTTP/1.1 100 Continue\n';

test('each 100 before the final response becomes 102, wherever the bytes are parted', () => {
  const given = with100As(100);
  const parted = Array.from(given, (_, at) => [given.slice(0, at), given.slice(at)] as const);
  expect(parted.filter(([first, second]) => readInTwo(first, second) !== with100As(102))).toEqual([]);
});

function with100As(status: number): string {
  return `${HINTS}HTTP/1.1 ${status} C\r\na: b\r\n\r\n`.repeat(2) + REST;
}

/** As undici's parser reads. */
function readInTwo(first: string, second: string): string {
  const chunks = [first, second].map((part) => Buffer.from(part)) as [Buffer, Buffer];
  const start = new ResponseStart();
  start.begin();
  start.came(chunks[0]);
  const read = String(chunks[0]);
  for (const _ of read.matchAll(/ 1\d\d .*?\r\n\r\n/gs)) start.informational();
  if (read.includes(' 200 ')) start.stop();
  start.came(chunks[1]);
  return `${read}${chunks[1]}`;
}

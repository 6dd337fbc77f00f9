/** What the benchmarks count with. How fast anything is, no test says. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lastAt, longestGapMs } from '../../bench/support/burst-scene.js';
import { comparison } from '../../bench/support/comparison.js';
import { MessageCutter } from '../../bench/support/http-message.js';
import { holds } from '../../bench/support/row.js';
import { percentile, summary } from '../../bench/support/statistics.js';

test.each([
  [0, 1],
  [20, 1],
  [21, 2],
  [100, 5],
])('the %d-th percentile is a value that was measured', (percent, value) => {
  expect(percentile([5, 1, 3, 2, 4], percent)).toBe(value);
});

test.each([
  ['at least', 2],
  ['below', 0.5],
  ['at most', 0.5],
] as const)(
  'twice the figure of another commit, where it is to be %s something, is %d times as good',
  (kind, ratio) => {
    const row = { name: 'x', title: 'x', figure: { kind, value: 9, unit: 'ms' }, run: async () => round(0) } as const;
    const { outcome } = comparison({ row, here: [round(10), round(4)], there: [round(5), round(2)] }, 'abc');
    expect(outcome).toMatchObject({ kind: 'measured', values: [ratio, ratio] });
  },
);

function round(value: number) {
  return { kind: 'measured', values: [value], sides: [], notes: [] } as const;
}

test.each([
  ['at most', 3, true],
  ['at most', 3.1, false],
  ['below', 3, false],
] as const)('a figure of %s 3 with a value of %d holds: %s', (kind, value, isMet) => {
  expect(holds({ kind, value: 3, unit: 'ratio' }, value)).toBe(isMet);
});

describe('arrivals', () => {
  const arrivals = [40, 10, 90].map((at) => ({ at, publishedAt: 0, path: '/', wasRejected: false }));

  it('end with the latest one', () => {
    expect(lastAt(arrivals, 3)).toBe(90);
  });

  it('have no last one while any is missing', () => {
    expect(lastAt(arrivals, 4)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    [0, 50],
    [-60, 70],
  ])('that start at %d ms have a longest gap of %d ms', (startedAt, gap) => {
    expect(longestGapMs(arrivals, startedAt)).toBe(gap);
  });
});

test('numbers are sorted as numbers', () => {
  expect(summary([100, 9, 20])).toEqual({ median: 20, least: 9, most: 100 });
});

test.each([1, 2, 7, 1_000])('messages are cut out of a stream that comes in pieces of %d bytes', (size) => {
  const stream = Buffer.from(
    'POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nhost: x\r\n\r\nPOST /c HTTP/1.1\r\ncontent-length: 2\r\n\r\nok',
  );
  const messages: string[] = [];
  const cutter = new MessageCutter((head, body) => messages.push(`${head.split('\r\n')[0]}: ${body}`));
  for (let from = 0; from < stream.length; from += size) cutter.add(stream.subarray(from, from + size));
  expect(messages).toEqual(['POST /a HTTP/1.1: hello', 'GET /b HTTP/1.1: ', 'POST /c HTTP/1.1: ok']);
});

test('the benchmarks start, which need nothing of the runner of the tests', async () => {
  const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  const args = ['--import', file('scripts/typescript/register.js'), file('bench/run.ts')];
  const started = promisify(execFile)(process.execPath, args, { env: { ...process.env, BENCH_ONLY: 'nothing' } });
  await expect(started).rejects.toThrow('there is no row nothing: there are pipeline,');
});

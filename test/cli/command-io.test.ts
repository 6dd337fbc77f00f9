import { PassThrough, Readable } from 'node:stream';
import { pipedSecret, printable } from '../../src/cli/command-io.js';

test.each([
  ['secret', 'secret'],
  ['secret\r\n', 'secret'],
  ['', null],
  ['\n', null],
])('of %j on stdin the secret is %j', async (given, secret) => {
  expect(await pipedSecret({ stdin: Readable.from([Buffer.from(given)]) })).toBe(secret);
});

test('on a terminal it does not wait for one: nobody was asked', async () => {
  const endless = Object.assign(new PassThrough(), { isTTY: true });
  expect(await pipedSecret({ stdin: endless })).toBeNull();
});

test.each([
  ['a line end', 'a\nb', 'a\\u000ab'],
  ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
  ['what turns the direction of text', 'https://a/\u202egpj.exe', 'https://a/\\u202egpj.exe'],
])('%s is shown and does nothing', (_, line, shown) => {
  expect(printable(line)).toBe(shown);
});

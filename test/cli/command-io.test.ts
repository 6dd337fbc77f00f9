import { PassThrough, Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { pipedSecret } from '../../src/cli/command-io.js';

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

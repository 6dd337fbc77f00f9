import { PassThrough, Readable } from 'node:stream';
import { CommandFailed, LastingAnswer, OutputFailed, pipedSecret, printable } from '../../src/cli/command-io.js';

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

describe('an answer that goes on where stdout fails', () => {
  const verdict = new CommandFailed('2 problems found');
  const printed: string[] = [];
  const failing = (code: string) => {
    printed.length = 0;
    return new LastingAnswer({
      print: async (line) => {
        if (printed.length === 1) throw new OutputFailed(code);
        printed.push(line);
      },
    });
  };

  test.each([
    ['ENOSPC', null, /ENOSPC/],
    ['ENOSPC', verdict, /ENOSPC/],
    ['EPIPE', null, /EPIPE/],
    ['EPIPE', verdict, /2 problems found/],
  ])('after %s, with the verdict %s, its end rejects with %s', async (code, wrong, says) => {
    const answer = failing(code);
    for (const line of ['one', 'two', 'three']) await answer.print(line);
    expect(printed).toEqual(['one']);
    expect(() => answer.end(wrong)).toThrow(says);
  });

  test('without a failure the verdict alone decides', async () => {
    const answer = failing('ENOSPC');
    await answer.print('one');
    expect(() => answer.end()).not.toThrow();
    expect(() => answer.end(verdict)).toThrow(verdict);
  });
});

test.each([
  ['a line end', 'a\nb', 'a\\u000ab'],
  ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
  ['what turns the direction of text', 'https://a/\u202egpj.exe', 'https://a/\\u202egpj.exe'],
])('%s is shown and does nothing', (_, line, shown) => {
  expect(printable(line)).toBe(shown);
});

test('letters of every script stay as they are', () => {
  expect(printable('שלום 汉字 😀')).toBe('שלום 汉字 😀');
});

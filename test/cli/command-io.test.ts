import { PassThrough, Readable } from 'node:stream';
import { Command } from 'commander';
import { command } from '../../src/cli/command.js';
import { type CommandIo, OutputFailed, pipedSecret, printable } from '../../src/cli/command-io.js';

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

describe('a command that goes on where stdout fails', () => {
  const ended = async (code: string | null, wrong: readonly string[]) => {
    const printed: string[] = [];
    const print = async (line: string) => {
      if (code !== null && printed.length === 1) throw new OutputFailed(code);
      printed.push(line);
    };
    const program = new Command('here').exitOverride();
    command(program, { print } as CommandIo, {
      ...{ name: 'it', says: 'it', lasts: true },
      async run(running) {
        for (const line of ['one', 'two', 'three']) await running.say(line);
        running.wrong(...wrong);
      },
    });
    const failure = await program.parseAsync(['it'], { from: 'user' }).then(
      () => null,
      (error: Error) => error.message,
    );
    return { printed, failure };
  };

  test.each([
    ['ENOSPC', [], /ENOSPC/],
    ['ENOSPC', ['2 problems found'], /ENOSPC/],
    ['EPIPE', [], /EPIPE/],
    ['EPIPE', ['2 problems found'], /^2 problems found$/],
  ])('after %s, with the verdict %j, it fails with %s', async (code, wrong, says) => {
    expect(await ended(code, wrong)).toEqual({ printed: ['one'], failure: expect.stringMatching(says) });
  });

  test('without a failure the verdict alone decides', async () => {
    expect(await ended(null, [])).toMatchObject({ failure: null });
    expect(await ended(null, ['this', 'that', 'this'])).toMatchObject({ failure: 'this; that' });
  });
});

test.each([
  ['a line end', 'a\nb', 'a\\u000ab'],
  ['an escape sequence', '\u001b[2J', '\\u001b[2J'],
  ['what turns the direction of text', 'https://a/\u202egpj.exe', 'https://a/\\u202egpj.exe'],
])('%s is shown and does nothing', (_, line, shown) => {
  expect(printable(line)).toBe(shown);
});

import fc from 'fast-check';
import { CommandFailed } from '../../src/cli/command-io.js';
import { numberedLines } from '../../src/cli/events-publish.js';

async function* chunks(...given: readonly (string | Buffer)[]): AsyncIterable<Buffer> {
  for (const chunk of given) yield Buffer.from(chunk);
}

async function linesOf(...given: readonly (string | Buffer)[]): Promise<(readonly [number: number, text: string])[]> {
  const lines: (readonly [number, string])[] = [];
  for await (const { number, bytes } of numberedLines(chunks(...given))) lines.push([number, bytes.toString('latin1')]);
  return lines;
}

describe('lines with their numbers', () => {
  test('are the same however the bytes come', async () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x0d, 0x20, 0x61, 0xff), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat(30), { maxLength: 6 }), async (units, cuts) => {
        const whole = Buffer.from(units);
        const ends = [...cuts.sort((a, b) => a - b), whole.length];
        const parts = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
        const expected = whole.toString('latin1').split('\n');
        const lines = expected.map((text, index) => [index + 1, text.replace(/\r$/, '')] as const);
        expect(await linesOf(...parts)).toEqual(lines.filter(([, text]) => /[^ \r]/.test(text)));
      }),
    );
  });

  test('a line without an end is refused before it fills the memory', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'a');
    const endless = async () => linesOf('a\nb\n', ...Array.from({ length: 17 }, () => mebibyte));
    await expect(endless()).rejects.toThrow(CommandFailed);
    await expect(endless()).rejects.toThrow('line 3 has more than 16 MiB');
    expect(await linesOf(...Array.from({ length: 16 }, () => mebibyte))).toHaveLength(1);
  });
});

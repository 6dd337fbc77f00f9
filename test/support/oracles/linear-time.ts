/** Describes parsers of untrusted text: none takes more than three times as long for twice the text. */
import { growthOf } from './growth.js';

export const KIB = 1_024;
/** Of the text of a head: Node's limit is 16 KiB, ours of a response 64 KiB. */
export const HEAD = 256 * KIB;
export const BODY = 1_024 * KIB;
export const MAX_GROWTH = 3;

export type Parser = readonly [
  name: string,
  /** May return a promise. */
  parse: (text: string) => unknown,
  inputs: readonly ((length: number) => string)[],
  maxLength: number,
];

export const repeat =
  (unit: string, before = '', after = '') =>
  (length: number) =>
    before + unit.repeat(Math.ceil(length / unit.length)) + after;

/** A rejected text takes as long as its parser needs to reject it. */
export const attempted = (read: (text: string) => unknown) => async (text: string) => {
  try {
    return await read(text);
  } catch {
    return null;
  }
};

export function describeLinear(parsers: readonly Parser[]): void {
  describe.each(parsers)('%s', (_, parse, inputs, maxLength) => {
    it('takes at most three times as long for twice the text', async () => {
      for (const prepare of inputs) {
        const growth = await growthOf(prepare, parse, { maxLength, most: MAX_GROWTH });
        if (growth > MAX_GROWTH) throw new Error(`${growth.toFixed(1)} times as long for ${prepare(40).slice(0, 80)}`);
      }
    });
  });
}

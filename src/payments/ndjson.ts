/** Newline-delimited JSON, as the command line and the API read it. */
export const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACES: readonly (number | undefined)[] = [0x20, 0x09, CARRIAGE_RETURN];
/** U+FEFF in UTF-8. */
const BYTE_ORDER_MARK = Buffer.of(0xef, 0xbb, 0xbf);

export interface NumberedLine {
  /** From 1 on, counting empty lines, as an editor does. */
  readonly number: number;
  /** Unchanged, without the line end. */
  readonly bytes: Buffer;
}

/** A mark before the first line says nothing about it. */
export function withoutMark(text: Buffer): Buffer {
  return text.subarray(0, 3).equals(BYTE_ORDER_MARK) ? text.subarray(3) : text;
}

/**
 * The lines with more than white space; returns the number of the line behind the text. Byte by byte between them: a body
 * may be a million empty lines, and a search and a view for each would take 150 ms.
 *
 * @param number of the first line
 */
export function* linesOf(text: Buffer, number = 1): Generator<NumberedLine, number> {
  const all = number === 1 ? withoutMark(text) : text;
  let begin = 0;
  for (let at = 0; at < all.length; at += 1) {
    if (SPACES.includes(all[at])) continue;
    if (all[at] !== NEWLINE) {
      const found = all.indexOf(NEWLINE, at);
      at = found === -1 ? all.length : found;
      yield { number, bytes: withoutReturn(all.subarray(begin, at)) };
    }
    number += 1;
    begin = at + 1;
  }
  return number;
}

const withoutReturn = (line: Buffer) => (line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line);

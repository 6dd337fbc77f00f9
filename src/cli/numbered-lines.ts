/** NDJSON: the non-empty lines of a stream with their numbers, in constant memory. */
import { isBlankLine, NEWLINE } from '../ndjson.js';
import { CommandFailed } from './command-io.js';

/** More than any broker's record limit. A stream without line ends must not fill the memory. */
const MAX_LINE_MIB = 16;

export interface NumberedLine {
  /** From 1 on, counting empty lines, as an editor does. */
  readonly number: number;
  /** Unchanged, without the line feed. */
  readonly bytes: Buffer;
}

/** @throws CommandFailed if a line is longer than any record */
export async function* numberedLines(input: AsyncIterable<Buffer>): AsyncIterable<NumberedLine> {
  const rest: Buffer[] = [];
  let restBytes = 0;
  let number = 1;
  for await (const chunk of input) {
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begin)) {
      const bytes = Buffer.concat([...rest.splice(0), chunk.subarray(begin, end)]);
      if (!isBlankLine(bytes)) yield { number, bytes };
      number += 1;
      restBytes = 0;
      begin = end + 1;
    }
    rest.push(Buffer.from(chunk.subarray(begin)));
    restBytes += chunk.length - begin;
    if (restBytes > MAX_LINE_MIB * 1024 * 1024) {
      throw new CommandFailed(`line ${number} has more than ${MAX_LINE_MIB} MiB; the lines before it were read`);
    }
  }
  const bytes = Buffer.concat(rest);
  if (!isBlankLine(bytes)) yield { number, bytes };
}

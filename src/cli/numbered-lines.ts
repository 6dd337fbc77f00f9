/** NDJSON: the lines of a stream, in constant memory. */
import { linesOf, NEWLINE, type NumberedLine } from '../delivery/payment/ndjson.js';
import { CommandFailed } from './command-io.js';

/** More than any broker's record limit. A stream without line ends must not fill the memory. */
const MAX_LINE_MIB = 16;

/** @throws CommandFailed if a line is longer than any record */
export async function* numberedLines(input: AsyncIterable<Buffer>): AsyncIterable<NumberedLine> {
  const rest: Buffer[] = [];
  let restBytes = 0;
  let number = 1;
  for await (const chunk of input) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      number = yield* linesOf(Buffer.concat([...rest.splice(0), chunk.subarray(0, end)]), number);
      restBytes = 0;
    }
    rest.push(Buffer.from(chunk.subarray(end)));
    restBytes += chunk.length - end;
    if (restBytes > MAX_LINE_MIB * 1024 * 1024) {
      throw new CommandFailed(`line ${number} has more than ${MAX_LINE_MIB} MiB; the lines before it were read`);
    }
  }
  yield* linesOf(Buffer.concat(rest), number);
}

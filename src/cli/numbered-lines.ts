/** NDJSON on stdin: its lines, in constant memory; and a stream that can be read twice. */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** A private temporary file that disappears with the process. @throws CommandFailed if it can't be created */
export async function openSpool(input: AsyncIterable<Buffer>) {
  const file = await unnamedFile().catch(failed);
  return {
    /** Passes the input on, each chunk after it is in the file. @throws CommandFailed if the chunk can't be stored */
    async *first(): AsyncIterable<Buffer> {
      for await (const chunk of input) {
        await file.appendFile(chunk).catch(failed);
        yield chunk;
      }
    },
    again: (): AsyncIterable<Buffer> => file.createReadStream({ start: 0, autoClose: false }),
    close: () => file.close(),
  };
}

/** Unlinked at once: however the process ends, even by kill -9, no payments are left behind. */
async function unnamedFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'account-webhooks-'));
  try {
    return await open(join(folder, 'lines'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function failed(error: NodeJS.ErrnoException): never {
  throw new CommandFailed(`stdin can't be kept in a temporary file: ${error.code}; set TMPDIR to another folder`);
}

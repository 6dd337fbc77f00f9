/** A stream that can be read twice: kept in a temporary file that nobody else sees, and that is gone with the process. */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailed } from './command-io.js';

export interface Spool {
  /** What comes from the input, each chunk after it is in the file. @throws CommandFailed where it can't be kept */
  first(): AsyncIterable<Buffer>;
  /** All of it once more. */
  again(): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** @throws CommandFailed where there can be no temporary file */
export async function openSpool(input: AsyncIterable<Buffer>): Promise<Spool> {
  const file = await unnamedFile().catch(failed);
  return {
    async *first() {
      for await (const chunk of input) {
        await file.appendFile(chunk).catch(failed);
        yield chunk;
      }
    },
    again: () => file.createReadStream({ start: 0, autoClose: false }),
    close: () => file.close(),
  };
}

/** Its name is taken away at once: no end of the process, kill -9 either, leaves payments behind. */
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

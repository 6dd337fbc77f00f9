/** Makes a stream readable twice: a private temporary file that disappears with the process. */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandFailed } from './command-io.js';

export interface Spool {
  /** Passes the input on, each chunk after it is in the file. @throws CommandFailed if the chunk can't be stored */
  first(): AsyncIterable<Buffer>;
  /** The whole stream again. */
  again(): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

/** @throws CommandFailed if a temporary file can't be created */
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

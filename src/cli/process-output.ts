/** stdout and stderr of this process, for CommandIo. */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { type CommandIo, OutputFailed } from './command-io.js';

/** Lines on stdout are the answer: a failure rejects. Lines on stderr are said beside it: without them the work goes on. */
export function processOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>) {
  // Each write reports its own failure; without a listener, the first would end the process.
  for (const stream of [stdout, stderr]) stream.on('error', () => undefined);
  const print = (line: string) =>
    written(stdout, printable(line)).catch((error: NodeJS.ErrnoException) => {
      throw new OutputFailed(error.code);
    });
  const warn = (line: string) => written(stderr, printable(line)).catch(() => undefined);
  return { print, warn } satisfies Pick<CommandIo, 'print' | 'warn'>;
}

/** Fulfilled once the system has the line. */
async function written(stream: NodeJS.WriteStream & { readonly fd: number }, line: string): Promise<void> {
  // Hazard: Node's stream for files drops the rest of a short write, as when a disk becomes full within it.
  if (!((stream as object) instanceof Socket)) return writeFileSync(stream.fd, `${line}\n`);
  await new Promise<void>((resolve, reject) => {
    stream.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * Makes a text printable as one line that moves no cursor and keeps its order: parts may be untrusted, like a payment's
 * id.
 */
export function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

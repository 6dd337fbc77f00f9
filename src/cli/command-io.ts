/** What commands share: settings, stdin, stdout and signals of the process, and the readers of arguments. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from 'commander';
import type { EventStore } from '../ports/event-store.js';
import type { Config } from '../settings/read-config.js';
import { readTime } from '../time/iso-time.js';
import type { CommandContext } from '../webhooks/envelope.js';
import { accountStream } from '../webhooks/events.js';

export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Writes to stdout; fulfilled once the line is written. @throws OutputFailed */
  readonly print: (line: string) => Promise<void>;
  /** Writes to stderr messages outside the result; fulfilled once the line is written, or can't be. */
  readonly warn: (line: string) => Promise<void>;
  /** @throws WrongSettings */
  readonly config: () => Config;
}

/** A failure whose message says what to do: one line on stderr, exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

export class OutputFailed extends Error {
  override readonly name = 'OutputFailed';
  /** The reader of a pipe stopped early: `account-webhooks audit log | head`. */
  readonly isReaderGone: boolean;
  /** @param code the system's, like ENOSPC */
  constructor(readonly code = 'UNKNOWN') {
    super(`stdout can't be written (${code}): the answer is lost or cut off; changes made by the command remain`);
    this.isReaderGone = code === 'EPIPE';
  }
}

export interface ScratchOption {
  readonly scratch: string;
}

/** For commands that may need more room than memory has. */
export const SCRATCH_OPTION = () => new Option('--scratch <folder>', 'folder for a temporary file').default(tmpdir());

/** The content of stdin. Null if empty, or on a terminal, where a waiting command would seem to hang. */
export async function pipedSecret({ stdin }: Pick<CommandIo, 'stdin'>): Promise<string | null> {
  return stdin.isTTY ? null : (await text(stdin)).trim() || null;
}

/** Aborts on Ctrl-C or SIGTERM, for work that runs until then; `received` has the signal's name. */
export function untilSignal() {
  const stopping = new AbortController();
  let ignore = (): void => undefined;
  const received = new Promise<NodeJS.Signals>((resolve) => {
    const stop = (name: NodeJS.Signals) => {
      resolve(name);
      stopping.abort();
    };
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
    ignore = () => {
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
    };
  });
  return { signal: stopping.signal, received, ignore };
}

export function operatorContext(): CommandContext {
  const requestId = randomUUID();
  return { actor: operatorActor(), requestId, correlationId: requestId };
}

export function operatorActor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    // A container's user often has no name.
    return `cli:uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

export function wholeArgument(says: string): (value: string) => number {
  return (value) => {
    const whole = Number(value);
    if (/^[1-9]\d*$/.test(value) && Number.isSafeInteger(whole)) return whole;
    throw new InvalidArgumentError(says);
  };
}

export const accountIdArgument = wholeArgument('An account id is a whole number, 1 or greater.');

/** The URL of a service on this machine that listens at HOST: localhost if HOST means every address. */
export function localUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** ms since the epoch. */
export function timeArgument(value: string): number {
  const time = readTime(value);
  if (time !== null) return time;
  throw new InvalidArgumentError('Write a time as 2026-11-21T09:00:00Z, or a day as 2026-11-21 for its start in UTC.');
}

/** For a command that found nothing for an account: the id may be mistyped. @throws CommandFailed, StoreUnavailable */
export async function assertRegistered(store: EventStore, accountId: number): Promise<void> {
  for await (const _ of store.read(accountStream(accountId))) return;
  throw new CommandFailed(`account ${accountId} is not registered`);
}

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

async function written(stream: NodeJS.WriteStream & { readonly fd: number }, line: string): Promise<void> {
  // Hazard: Node's stream for files drops the rest of a short write, as when a disk becomes full within it.
  if (!((stream as object) instanceof Socket)) return writeFileSync(stream.fd, `${line}\n`);
  await new Promise<void>((resolve, reject) => {
    stream.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** Text as one line that moves no cursor and keeps its order: parts may be untrusted, like a payment's id. */
export function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

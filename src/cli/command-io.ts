/** What a command may use of the process: its settings, its answer on stdout, and its end. */
import { userInfo } from 'node:os';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { type Backbone, openBackbone } from '../backbone.js';
import { createLogger } from '../observability/logger.js';
import type { Config } from '../settings/config.js';
import type { CommandContext } from '../webhooks/envelope.js';

export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** Writes to stdout; resolves when it may go on. */
  readonly print: (line: string) => Promise<void>;
  /** Writes to stderr what the answer does not hold; resolves when it may go on. */
  readonly warn: (line: string) => Promise<void>;
  /** @throws WrongSettings */
  readonly config: () => Config;
}

/** A failure whose message says what to do: one line on stderr, exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

export interface JsonOption {
  readonly json?: boolean;
}

export const JSON_OPTION = ['--json', 'print JSON on stdout'] as const;

/** What stands on stdin. Null: nothing; or it is a terminal, where a command that waits would look as if it hung. */
export async function pipedSecret({ stdin }: Pick<CommandIo, 'stdin'>): Promise<string | null> {
  return stdin.isTTY ? null : (await text(stdin)).trim() || null;
}

/** Opens store and broker for as long as the work takes; a running service may use them too. */
export async function withBackbone<T>(config: Config, work: (backbone: Backbone) => Promise<T>): Promise<T> {
  const backbone = await openBackbone(config, createLogger(config.logLevel === 'silent' ? 'silent' : 'warn'));
  try {
    return await work(backbone);
  } finally {
    await backbone.close();
  }
}

/** Aborts at Ctrl-C or SIGTERM, for what goes on until then. */
export function untilSignal(): { readonly signal: AbortSignal; ignore(): void } {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  const ignore = () => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
  };
  return { signal: stopping.signal, ignore };
}

/** Who a change on the command line is written down to. */
export function operatorContext(newId: () => string): CommandContext {
  const requestId = newId();
  return { actor: `cli:${operator()}`, requestId, correlationId: requestId };
}

function operator(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user often has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

export function accountIdArgument(value: string): number {
  const accountId = Number(value);
  if (/^[1-9]\d*$/.test(value) && Number.isSafeInteger(accountId)) return accountId;
  throw new InvalidArgumentError('An account id is a whole number, 1 or greater.');
}

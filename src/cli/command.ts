/** One way to make a command: its arguments and options, --json, what it opens, its answer on stdout and its exit code. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { ScratchFile } from '../adapters/sqlite/scratch-file.js';
import { inDataDir } from '../adapters/sqlite/store-file.js';
import { type Backbone, openBackbone } from '../composition/backbone.js';
import { createLogger } from '../observability/logger.js';
import type { Scratch } from '../ports/scratch.js';
import type { Config } from '../settings/read-config.js';
import { CommandFailed, type CommandIo } from './command-io.js';

// biome-ignore lint/suspicious/noExplicitAny: commander's own type of what was parsed before.
type Parse = (value: string, before: any) => unknown;

export function option(flags: string, says: string, parse?: Parse): Option {
  const made = new Option(flags, says);
  return parse ? made.argParser(parse) : made;
}

export function required(...given: Parameters<typeof option>): Option {
  return option(...given).makeOptionMandatory();
}

interface Definition<O, A extends readonly unknown[]> {
  readonly name: string;
  readonly says: string;
  readonly args?: readonly (readonly [flags: string, says?: string, parse?: Parse])[];
  readonly options?: readonly Option[];
  /** What --json prints. */
  readonly json?: string;
  readonly run: (running: Running<O, A>) => Promise<void>;
}

/** Failures are reported, and exit codes set, by program.ts. */
export function command<O = object, A extends readonly unknown[] = []>(
  group: Command,
  io: CommandIo,
  { name, says, args = [], options = [], json = 'print JSON on stdout', run }: Definition<O, A>,
): Command {
  const made = group.command(name).description(says);
  for (const [flags, text = '', parse] of args) {
    if (parse) made.argument(flags, text, parse);
    else made.argument(flags, text);
  }
  for (const one of options) made.addOption(one);
  made.option('--json', json);
  return made.action(async () => {
    const given = made.opts<O & { json?: boolean }>();
    const running = new Running<O, A>(made, io, given);
    try {
      await run(running);
      running.end();
    } finally {
      await running.close();
    }
  });
}

const MEBIBYTE = 1024 ** 2;
const MAY_LACK = { throwIfNoEntry: false } as const;

/** A command that runs: what it was given, and what it needs. Its end closes what it opened. */
export class Running<O = object, A extends readonly unknown[] = readonly unknown[]> {
  readonly io: CommandIo;
  readonly args: A;
  readonly options: O;
  readonly json: boolean;
  readonly #command: Command;
  readonly #opened: { close(): unknown }[] = [];
  readonly #wrong = new Set<string>();

  constructor(made: Command, io: CommandIo, { json = false, ...options }: O & { json?: boolean }) {
    this.io = io;
    this.args = made.processedArgs as unknown as A;
    this.options = options as O;
    this.json = json;
    this.#command = made;
  }

  /** @throws WrongSettings */
  get config(): Config {
    return this.io.config();
  }

  /** Store and broker, even beside a running service. @param begins may make an installation: else DATA_DIR is mistyped */
  async open(begins = false): Promise<Backbone> {
    const { config } = this;
    const isEmbedded = config.EVENT_STORE_URL === null && config.BROKER_URL === null;
    if (isEmbedded && !begins && !inDataDir(() => statSync(join(config.DATA_DIR, 'store.sqlite'), MAY_LACK)))
      throw new CommandFailed('there is no store.sqlite in DATA_DIR: the service was never started there');
    const backbone = await openBackbone(config, createLogger(config.LOG_LEVEL === 'silent' ? 'silent' : 'warn'));
    this.#opened.push(backbone);
    return backbone;
  }

  /** Tables in a temporary file. @param bytes that they may need */
  scratch(folder: string, bytes = 0): Scratch {
    if (bytes > 0) process.stderr.write(`account-webhooks: ${folder} may need ${Math.ceil(bytes / MEBIBYTE)} MiB\n`);
    const tables = ScratchFile.open(folder, bytes);
    this.#opened.push(tables);
    return tables;
  }

  /** With --json the object, on a line of its own; otherwise the lines. @throws OutputFailed */
  async print(result: object, ...lines: readonly string[]): Promise<void> {
    for (const line of this.json ? [JSON.stringify(result)] : lines) await this.say(line);
  }

  /** With --json too. */
  say(line: string): Promise<void> {
    return this.io.print(line);
  }

  /** Ends the command as wrong usage, exit code 2. */
  refuse(says: string): never {
    this.#command.error(`error: ${says}`);
  }

  /** Exit code 1 at the end, even if everything is printed. */
  wrong(...says: readonly string[]): void {
    for (const one of says) this.#wrong.add(one);
  }

  /** @throws CommandFailed with what is wrong */
  end(): void {
    if (this.#wrong.size > 0) throw new CommandFailed([...this.#wrong].join('; '));
  }

  async close(): Promise<void> {
    for (const one of this.#opened.splice(0).reverse()) await one.close();
  }
}

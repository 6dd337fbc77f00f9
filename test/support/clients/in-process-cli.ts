/**
 * The command line within the test's own process: a start of Node takes half a second of CPU time. Tests of a process's
 * own behaviour need `run` of service.ts: signals, Node's own output, and the end of a process.
 */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type CommandIo, printable } from '../../../src/cli/command-io.js';
import { runCommandLine } from '../../../src/cli/program.js';
import { readConfig } from '../../../src/settings/read-config.js';
import { temporaryDirectory } from '../scenes/temporary-directory.js';
import type { Finished, Settings } from './service.js';

const SETTINGS_READ = 'the settings were read';

interface Given extends Pick<CommandIo, 'stdin' | 'config'> {
  /** commander reads secret options from there. */
  readonly environment: Settings;
}

/**
 * Replaces file descriptor 2, to which the log writes directly, past process.stderr. Open for as long as a late line
 * may come.
 */
let opened: { readonly stderr: number; readonly close: () => void } | null = null;
afterAll(() => opened?.close());

/** Opened with the first command: if all tests are skipped, so are the hooks. */
function openStderr(): number {
  if (opened) return opened.stderr;
  const folder = temporaryDirectory();
  const stderr = openSync(join(folder.path, 'stderr'), 'a+');
  const close = () => {
    closeSync(stderr);
    folder.remove();
  };
  opened = { stderr, close };
  return stderr;
}

/** One after the other: there is only one process.stdout. */
let last: Promise<unknown> = Promise.resolve();

/** Like `run` of service.ts. */
export function commandLine(settings: Settings, args: readonly string[], stdin = ''): Promise<Finished> {
  return inTurn(args, {
    environment: settings,
    stdin: Readable.from(stdin ? [Buffer.from(stdin)] : []),
    config: () => readConfig(settings),
  });
}

/** For commands that print before they open anything: the settings can't be read. */
export function cli(...args: string[]): Promise<Finished> {
  return inTurn(args, {
    environment: {},
    stdin: Readable.from([]),
    config: () => {
      throw new Error(SETTINGS_READ);
    },
  });
}

function inTurn(args: readonly string[], given: Given): Promise<Finished> {
  const mine = last.then(() => finished(args, given));
  last = mine.catch(() => undefined);
  return mine;
}

async function finished(args: readonly string[], { environment, ...given }: Given): Promise<Finished> {
  const stderr = openStderr();
  const before = fstatSync(stderr).size;
  let stdout = '';
  const env = jest.replaceProperty(process, 'env', { ...process.env, ...environment });
  const fd = jest.replaceProperty(process.stderr as { fd: number }, 'fd', stderr);
  const spies = [
    jest.spyOn(process.stderr, 'write').mockImplementation((chunk) => writeSync(stderr, String(chunk)) > 0),
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      stdout += chunk;
      return true;
    }),
  ];
  const io: CommandIo = {
    ...given,
    print: async (line) => void process.stdout.write(`${printable(line)}\n`),
    warn: async (line) => void process.stderr.write(`${printable(line)}\n`),
  };
  try {
    const code = await runCommandLine(args, io, (line) => process.stderr.write(`${line}\n`));
    return { code, stdout, stderr: writtenSince(stderr, before) };
  } finally {
    fd.restore();
    env.restore();
    for (const spy of spies) spy.mockRestore();
  }
}

function writtenSince(stderr: number, before: number): string {
  const bytes = Buffer.alloc(fstatSync(stderr).size - before);
  readSync(stderr, bytes, 0, bytes.length, before);
  return bytes.toString();
}

/** The names under `Commands:` in a help text, without `help`. */
export function commandsIn(help: string): string[] {
  const [, commands = ''] = help.split('\nCommands:\n');
  return [...commands.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, name = '']) => (name === 'help' ? [] : [name]));
}

/** The help of every leaf command, by name: `audit log`. */
export async function helpOfAll(group: readonly string[] = []): Promise<Map<string, string>> {
  const { stdout } = await cli(...group, '--help');
  const names = commandsIn(stdout);
  if (names.length === 0) return new Map([[group.join(' '), stdout]]);
  const helps: [string, string][] = [];
  for (const name of names) helps.push(...(await helpOfAll([...group, name])));
  return new Map(helps);
}

/** The command line within the test's own process: for what it says before it opens anything. */
import { Readable } from 'node:stream';
import { jest } from '@jest/globals';
import type { CommandIo } from '../../src/cli/command-io.js';
import { runCommandLine } from '../../src/cli/program.js';
import type { Finished } from './service.js';

const SETTINGS_READ = 'the settings were read';

export async function cli(...args: string[]): Promise<Finished> {
  const said = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    jest.spyOn(process[name], 'write').mockImplementation((chunk) => {
      said[name] += chunk;
      return true;
    });
  const spies = [into('stdout'), into('stderr')];
  const io: CommandIo = {
    stdin: Readable.from([]),
    print: async (line) => void process.stdout.write(`${line}\n`),
    warn: async (line) => void process.stderr.write(`${line}\n`),
    config: () => {
      throw new Error(SETTINGS_READ);
    },
    wrongSettings: () => [SETTINGS_READ],
  };
  try {
    const code = await runCommandLine(args, io, (line) => process.stderr.write(`${line}\n`));
    return { code, ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Of `Commands:` in a help: their names, without `help`. */
export function commandsIn(help: string): string[] {
  const [, commands = ''] = help.split('\nCommands:\n');
  return [...commands.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, name = '']) => (name === 'help' ? [] : [name]));
}

/** The help of every command that does something, by its name: `audit log`. */
export async function helpOfAll(group: readonly string[] = []): Promise<Map<string, string>> {
  const { stdout } = await cli(...group, '--help');
  const names = commandsIn(stdout);
  if (names.length === 0) return new Map([[group.join(' '), stdout]]);
  const helps: [string, string][] = [];
  for (const name of names) helps.push(...(await helpOfAll([...group, name])));
  return new Map(helps);
}

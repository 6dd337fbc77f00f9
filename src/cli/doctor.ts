/** doctor: checks everything that the service needs, and reports faults and remedies in plain sentences. */
import type { Command } from 'commander';
import { fail, type Result } from '../doctor/check.js';
import { examine } from '../doctor/doctor.js';
import { createLogger } from '../observability/logger.js';
import type { Config } from '../settings/config.js';
import { WrongSettings } from '../settings/invalid-config.js';
import { command } from './command.js';
import type { CommandIo } from './command-io.js';

export function doctorCommand(program: Command, io: CommandIo): void {
  command(program, io, {
    name: 'doctor',
    says: 'check this installation, and say how to fix what is wrong; exit code 1 if anything is',
    lasts: true,
    async run(running) {
      const results = await examined(io);
      for (const result of results) await running.print(result, line(result));
      const failures = results.filter(({ verdict }) => verdict === 'FAIL').length;
      if (failures > 0) running.wrong(`${failures} ${failures === 1 ? 'problem' : 'problems'} found`);
    },
  });
}

async function examined(io: CommandIo): Promise<readonly Result[]> {
  const { config, wrong } = settingsOf(io);
  if (config === null)
    return wrong.map((says) => ({ check: 'settings', ...fail(says, 'correct the setting: see docs/settings.md') }));
  const sound: Result = { check: 'settings', verdict: 'ok', says: 'every setting has a valid value', todo: null };
  return [sound, ...(await examine(config, createLogger('silent')))];
}

function settingsOf(io: CommandIo): { config: Config | null; wrong: readonly string[] } {
  try {
    return { config: io.config(), wrong: [] };
  } catch (error) {
    if (error instanceof WrongSettings) return { config: null, wrong: error.lines };
    throw error;
  }
}

function line({ check, verdict, says, todo }: Result): string {
  return `${verdict.padEnd(4)}  ${check}: ${says}${todo === null ? '' : `. To do: ${todo}`}`;
}

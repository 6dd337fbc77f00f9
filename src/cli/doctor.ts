/** doctor: checks everything that the service needs, and reports faults and remedies in plain sentences. */
import type { Command } from 'commander';
import { fail, type Result } from '../doctor/check.js';
import { examine } from '../doctor/doctor.js';
import { createLogger } from '../observability/logger.js';
import { WrongSettings } from '../settings/invalid-config.js';
import { command } from './command.js';
import type { CommandIo } from './command-io.js';

export function doctorCommand(program: Command, io: CommandIo): void {
  command(program, io, {
    name: 'doctor',
    says: 'check this installation, and say how to fix what is wrong; exit code 1 if anything is',
    async run(running) {
      const results = await examined(io);
      for (const result of results) await running.print(result, line(result));
      const failures = results.filter(({ verdict }) => verdict === 'FAIL').length;
      if (failures > 0) running.wrong(`${failures} ${failures === 1 ? 'problem' : 'problems'} found`);
    },
  });
}

async function examined(io: CommandIo): Promise<readonly Result[]> {
  try {
    const config = io.config();
    const sound: Result = { check: 'settings', verdict: 'ok', says: 'every setting has a valid value', todo: null };
    return [sound, ...(await examine(config, createLogger('silent')))];
  } catch (error) {
    if (!(error instanceof WrongSettings)) throw error;
    return error.lines.map((says) => ({
      check: 'settings',
      ...fail(says, 'correct the setting: see docs/settings.md'),
    }));
  }
}

function line({ check, verdict, says, todo }: Result): string {
  return `${verdict.padEnd(4)}  ${check}: ${says}${todo === null ? '' : `. To do: ${todo}`}`;
}

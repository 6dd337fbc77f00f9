/** The findings of `doctor --json`. */
import type { Result } from '../../../src/doctor/check.js';
import { commandLine } from './in-process-cli.js';
import { jsonLines, type Settings } from './service.js';

export interface Examined {
  readonly code: number | null;
  readonly results: readonly Result[];
  /** stdout and stderr. */
  readonly said: string;
  /** Verdicts and sentences of one check, `verdict says`. */
  of(check: string): readonly string[];
  /** The findings other than ok, `verdict check: says`. */
  readonly troubles: readonly string[];
}

export async function examined(settings: Settings, by = commandLine): Promise<Examined> {
  const { code, stdout, stderr } = await by(settings, ['doctor', '--json']);
  const results = jsonLines<Result>(stdout);
  return {
    code,
    results,
    said: stdout + stderr,
    of: (check) => results.filter((one) => one.check === check).map(({ verdict, says }) => `${verdict} ${says}`),
    troubles: results
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ verdict, check, says }) => `${verdict} ${check}: ${says}`),
  };
}

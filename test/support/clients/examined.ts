/** The findings of `doctor --json`. */
import type { Result } from '../../../src/doctor/check.js';
import { commandLine } from './in-process-cli.js';
import { jsonLines, type Settings } from './service.js';

export async function examined(settings: Settings, by = commandLine) {
  const { code, stdout, stderr } = await by(settings, ['doctor', '--json']);
  const results = jsonLines<Result>(stdout);
  return {
    code,
    results,
    /** stdout and stderr. */
    said: stdout + stderr,
    /** Verdicts and sentences of one check, `verdict says`. */
    of: (check: string) =>
      results.filter((one) => one.check === check).map(({ verdict, says }) => `${verdict} ${says}`),
    /** The findings other than ok, `verdict check: says`. */
    troubles: results
      .filter(({ verdict }) => verdict !== 'ok')
      .map(({ verdict, check, says }) => `${verdict} ${check}: ${says}`),
  };
}

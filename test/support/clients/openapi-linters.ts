/** Findings of third-party linters about an OpenAPI document: one line per problem, including warnings and hints. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { temporaryDirectory } from '../scenes/temporary-directory.js';

const REDOCLY = join(import.meta.dirname, '../../../node_modules/@redocly/cli/bin/cli.js');
/** Without these variables Redocly sends telemetry and asks the registry for a newer version. */
const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Redocly's recommended rules, all as errors. */
export async function redoclyProblems(document: object): Promise<string[]> {
  const folder = temporaryDirectory();
  writeFileSync(join(folder.path, 'openapi.json'), JSON.stringify(document));
  try {
    const { problems } = JSON.parse(await redocly(folder.path)) as { problems: RedoclyProblem[] };
    return problems.map(({ ruleId, message, location: [at] }) => `${ruleId} ${at?.pointer}: ${message}`);
  } finally {
    folder.remove();
  }
}

interface RedoclyProblem {
  readonly ruleId: string;
  readonly message: string;
  readonly location: readonly { readonly pointer: string }[];
}

/** Rejects only if linting failed: the exit code is 1 for problems too, and then they are on stdout. */
function redocly(cwd: string): Promise<string> {
  const args = [REDOCLY, 'lint', 'openapi.json', '--extends=recommended-strict', '--format=json'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, env: { ...process.env, ...OFFLINE } }, (error, stdout, stderr) => {
      if (stdout.startsWith('{')) resolve(stdout);
      else reject(new Error(`redocly lint printed no report: ${stderr}`, { cause: error }));
    });
  });
}

/** Spectral's rules for OpenAPI (spectral:oas). */
export async function spectralProblems(document: object): Promise<string[]> {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset(spectralRulesets.oas as RulesetDefinition);
  // As text: Spectral would treat an object as one whose $refs are resolved.
  const results = await spectral.run(JSON.stringify(document));
  return results.map(({ code, message, path }) => `${code} ${path.join('.')}: ${message}`);
}

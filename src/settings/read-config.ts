/** The only reader of process.env. */
import { type Config, configOf } from './config.js';
import { proxyVariables } from './forward-proxy.js';
import { type Problem, WrongSettings } from './invalid-config.js';
import { brokenRules } from './rules.js';
import { SETTINGS, type Values } from './table.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** An empty value counts as unset. @throws WrongSettings with all errors */
export function readConfig(environment: Environment = process.env): Config {
  const { values, wrong } = readValues(environment);
  // No further errors about a value that is wrong by itself.
  const more = brokenRules(values).filter(({ key }) => !wrong.some((problem) => problem.key === key));
  const problems = [...wrong, ...more];
  if (problems.length > 0) throw new WrongSettings(problems);
  return configOf(values, proxyVariables(environment));
}

/** Node's own setting: a PEM file of CAs that this process trusts; undefined: none. */
export function nodeExtraCaFile(): string | undefined {
  return process.env.NODE_EXTRA_CA_CERTS || undefined;
}

/** Uses the default in place of a wrong value. */
function readValues(environment: Environment): { values: Values; wrong: readonly Problem[] } {
  const wrong: Problem[] = [];
  const values = SETTINGS.map(({ key, parser, byDefault }) => {
    const value = parser.parse(environment[key] || byDefault);
    if (value !== undefined) return [key, value];
    wrong.push({ key, says: `must be ${parser.expected}` });
    return [key, parser.parse(byDefault)];
  });
  return { values: Object.fromEntries(values) as Values, wrong };
}

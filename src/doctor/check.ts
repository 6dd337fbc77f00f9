/** A check and its findings, and the runner: all checks run concurrently, each with a time limit, and none throws. */
import { isCorrupt } from '../adapters/sqlite/open-file.js';

/** ok: as it should be. warn: works, but maybe not for long, or not as intended. FAIL: does not work. */
type Verdict = 'ok' | 'warn' | 'FAIL';

export interface Finding {
  readonly verdict: Verdict;
  /** A plain sentence, without secrets. */
  readonly says: string;
  /** The remedy; null if none is needed. */
  readonly todo: string | null;
}

export interface Check {
  readonly name: string;
  readonly run: () => Promise<readonly Finding[]> | readonly Finding[];
}

export type Result = Finding & { readonly check: string };

export const ok = (says: string): Finding => ({ verdict: 'ok', says, todo: null });
export const warn = (says: string, todo: string): Finding => ({ verdict: 'warn', says, todo });
export const fail = (says: string, todo: string): Finding => ({ verdict: 'FAIL', says, todo });

/** In the order of the checks. @param limitMs time limit of each check */
export async function runChecks(checks: readonly Check[], limitMs: number): Promise<readonly Result[]> {
  const results = await Promise.all(checks.map((check) => withinLimit(check, limitMs)));
  return results.flat();
}

async function withinLimit({ name, run }: Check, limitMs: number): Promise<Result[]> {
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<readonly Finding[]>((resolve) => {
    const late = fail(`no answer within ${limitMs / 1_000} s`, 'check whether it is overloaded or cut off');
    timer = setTimeout(() => resolve([late]), limitMs);
  });
  try {
    const findings = await Promise.race([Promise.resolve().then(run), hung]);
    return findings.map((finding) => ({ check: name, ...finding }));
  } catch (error) {
    return [{ check: name, ...unexplained(error) }];
  } finally {
    clearTimeout(timer);
  }
}

/** Our own errors name the setting without its value. Others may contain anything: only their code is shown. */
function unexplained(error: unknown): Finding {
  const { name = '', message = '', code = 'UNKNOWN', cause } = (error ?? {}) as Partial<Error & { code: string }>;
  // Corruption reported by store or broker carries the name of an outage.
  const remedy = REMEDIES.get(isCorrupt(cause) ? 'StoreDamaged' : name);
  return remedy === undefined ? fail(`the check failed (${code})`, 'resolve the error') : fail(message, remedy);
}

const SET_RIGHT = 'correct the setting: see docs/settings.md';
/** By the name of an error. */
export const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['InvalidConfig', SET_RIGHT],
  ['NoConnectionString', SET_RIGHT],
  ['MasterKeyMissing', 'restore master.key from its backup'],
  ['DataDirUnusable', 'check the permissions of DATA_DIR, and whether its disk is full or broken'],
  ['StoreDamaged', 'see the check of store.sqlite'],
  ['SchemaRefused', 'check the installed release (account-webhooks --version) and DATA_DIR'],
  ['StoreUnavailable', 'check that the server of EVENT_STORE_URL runs and is reachable from here'],
  ['StoreRefused', 'correct EVENT_STORE_URL, or grant its user the rights that the service needs'],
  [
    'OtherHistory',
    'see EVENT_STORE_URL; if this is the store to use, stop the service and run: account-webhooks store accept',
  ],
  ['BrokerUnavailable', 'check that the brokers of BROKER_URL run and are reachable from here'],
  ['BrokerRefused', 'correct the KAFKA_ settings, or grant the user the rights that the service needs'],
]);

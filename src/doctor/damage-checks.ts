/** Checks the SQLite files of DATA_DIR for damage, and for access by other users. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isBusy, openExisting } from '../adapters/sqlite/open-file.js';
import { DAMAGED, soundness } from '../adapters/sqlite/store-file.js';
import { whyDenied } from '../host/file-access.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';
import { access } from './file-access-findings.js';

const STORE = 'store.sqlite';
/** Files that can be rebuilt. */
const DISPOSABLE = ['read-model.sqlite', 'deliveries-view.sqlite'] as const;
/** Checked in a few seconds, during which the process does nothing else. */
const LOOKED_AT_BYTES = 1024 ** 3;
const RESTORE = 'stop the service and restore a backup: see "A damaged file" in docs/operations.md';
/** They have payments, URLs and the history: a webhook that is changed in them sends payments elsewhere, signed. */
const PRIVATE = 'run chmod 600 on it, and 700 on DATA_DIR';
const NOTHING = 'nothing: the next start of the service makes it again';

export function damageChecks({ dataDir }: Config): Check[] {
  return [STORE, ...DISPOSABLE]
    .filter((name) => existsSync(join(dataDir, name)))
    .map((name) => ({
      name,
      run: () => [finding(join(dataDir, name), name), ...access(join(dataDir, name), PRIVATE)],
    }));
}

function finding(path: string, name: string): Finding {
  if (whyDenied(path) !== null) return fail('this process may not use it', 'see DATA_DIR');
  const isLarge = statSync(path).size > LOOKED_AT_BYTES;
  if (isLarge && existsSync(path + DAMAGED)) return fail('the service met damage in it', RESTORE);
  if (isLarge) return ok('it is too large to be looked at as a whole: a backup does');
  const damage = damageOf(path);
  if (damage === 'in use') return ok('the service has it, and looks after it');
  if (damage === null) return ok('it is whole');
  return name === STORE ? fail('it is damaged', RESTORE) : warn('it is damaged', NOTHING);
}

/** Null if there is none. */
function damageOf(path: string): unknown {
  const file = openExisting(path, 0);
  try {
    return soundness(file);
  } catch (error) {
    if (isBusy(error)) return 'in use';
    throw error;
  } finally {
    file.close();
  }
}

/** Findings about who can use the files of DATA_DIR. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { modeOf, otherOwner, reachOf, whyDenied } from '../host/file-access.js';
import { type Finding, fail, warn } from './check.js';

/** Kubernetes sets these rights again at every mount. */
export const ITS_GROUP = 'nothing where a volume is mounted with fsGroup; otherwise take the rights of the group away';
/** The service's; a volume may have others, like lost+found. */
const OWN_FILE = /^(store\.sqlite|store-id|master\.key|(read-model|deliveries-view).*\.(sqlite|lock))/;
const ONE_USER = 'run the service and all commands as one user, and chown the file to it';

/** None if only its owner can read or write it. @param todo against access for all */
export function access(path: string, todo: string): Finding[] {
  const reach = reachOf(path);
  switch (reach) {
    case 'everybody':
      return [fail(`other users can read or write it (mode ${modeOf(path)})`, todo)];
    case 'group':
      return [warn(`its group can read or write it (mode ${modeOf(path)})`, ITS_GROUP)];
    case 'owner':
      return [];
    default:
      return reach satisfies never;
  }
}

/** Files of another user: root may have run a command on them, or the service ran as somebody else before. */
export function ofOtherUsers(dataDir: string): Finding[] {
  const files = readdirSync(dataDir).filter((name) => OWN_FILE.test(name));
  return files.flatMap((name) => {
    const owner = otherOwner(join(dataDir, name));
    if (owner === null) return [];
    return [whyDenied(join(dataDir, name)) === null ? warn(owner, ONE_USER) : fail(owner, ONE_USER)];
  });
}

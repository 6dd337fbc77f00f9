/** Checks DATA_DIR, the files in it, and the certificates that settings name: damage, access by other users, validity. */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isBusy, openExisting } from '../adapters/sqlite/open-file.js';
import { REQUESTS_FILE } from '../adapters/sqlite/request-chains.js';
import { DAMAGED, soundness } from '../adapters/sqlite/store-file.js';
import { VIEW_FILE } from '../adapters/sqlite/view/deliveries-view.js';
import { existing, modeOf, otherOwner, READ, reachOf, WRITE, whyDenied } from '../host/file-access.js';
import { certificatesIn } from '../host/pem-certificates.js';
import { type EventCatalogue, loadCatalogue } from '../payments/event-catalogue.js';
import type { Config } from '../settings/read-config.js';
import { certificatesFrom, clientCertificateFrom } from '../settings/setting-files.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

const STORE = 'store.sqlite';
/** A start makes them again where they are damaged. */
const DISPOSABLE = ['read-model.sqlite', VIEW_FILE, REQUESTS_FILE] as const;
/** The service's; a volume may have others, like lost+found. */
const OWN_FILE = /^(store\.sqlite|store-id|master\.key|(read-model|deliveries-view|requests).*\.(sqlite|lock))/;

/** @param now ms since the epoch */
export function fileChecks(config: Config, now: number): Check[] {
  const { DATA_DIR: dataDir, MASTER_KEY: masterKey, EVENT_SCHEMAS: schemas } = config;
  const key = join(dataDir, 'master.key');
  const databases = [STORE, ...DISPOSABLE].filter((name) => existsSync(join(dataDir, name)));
  return [
    ...certificates(config).map(({ name, pem }) => ({ name, run: () => [validity(name, pem(), now)] })),
    ...(schemas ? [{ name: 'EVENT_SCHEMAS', run: () => [described(loadCatalogue(schemas))] }] : []),
    { name: 'DATA_DIR', run: () => [...usable(dataDir), room(dataDir)] },
    ...(masterKey === null && existsSync(key) ? [{ name: 'master.key', run: () => access(key, SECRET) }] : []),
    ...databases.map((name) => ({ name, run: () => database(join(dataDir, name), name) })),
  ];
}

const described = (catalogue: EventCatalogue) =>
  ok(`${[...catalogue.values()].filter(({ schema }) => schema !== null).length} event types have a schema`);

/** By setting, those that name a file. @throws InvalidConfig */
function certificates(config: Config) {
  const of = (prefix: 'DELIVERY' | 'KAFKA') => {
    const [ca, own] = [`${prefix}_CA_FILE`, `${prefix}_CLIENT_CERT_FILE`] as const;
    const { [ca]: caFile, [own]: certFile } = config;
    return [
      ...(caFile ? [{ name: ca, pem: () => certificatesFrom(ca, caFile) }] : []),
      ...(certFile ? [{ name: own, pem: () => clientCertificateFrom(config, prefix).cert ?? '' }] : []),
    ];
  };
  return [...of('DELIVERY'), ...(config.BROKER_URL ? of('KAFKA') : [])];
}

const DAY_MS = 24 * 3_600_000;
const SOON_MS = 30 * DAY_MS;

/** Judged by the certificate that expires first. */
function validity(key: string, pem: string, now: number): Finding {
  const found = certificatesIn(pem);
  const begins = Math.max(...found.map(({ validFrom }) => Date.parse(validFrom)));
  const ends = Math.min(...found.map(({ validTo }) => Date.parse(validTo)));
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const renew = `put a new certificate into the file that ${key} names, and restart the service`;
  if (begins > now) return fail(`a certificate in it is not valid before ${day(begins)}`, 'check the clock');
  if (ends <= now) return fail(`a certificate in it expired on ${day(ends)}`, renew);
  if (ends - now < SOON_MS) return warn(`a certificate in it expires on ${day(ends)}`, renew);
  return ok(`valid until ${day(ends)}`);
}

function usable(dataDir: string): Finding[] {
  const give = 'let the user of the service write there';
  const denied = whyDenied(join(dataDir, STORE));
  const why = denied === null ? '' : `: ${denied}`;
  if (!existsSync(dataDir)) {
    return isWritable(existing(dataDir))
      ? [warn('does not exist yet', 'nothing before the first start: serve creates it. Otherwise check DATA_DIR')]
      : [fail(`does not exist and can't be created${why}`, give)];
  }
  if (!statSync(dataDir).isDirectory()) return [fail('not a folder', 'set DATA_DIR to a folder')];
  if (!isWritable(dataDir)) return [fail(`not writable${why}`, give)];
  return [shared(dataDir), ...ofOtherUsers(dataDir)];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const OWN_FOLDER = 'run chmod 700 on it, or set DATA_DIR to a folder below it, which serve creates';
/** Kubernetes sets these rights again at every mount. */
const ITS_GROUP = 'nothing where a volume is mounted with fsGroup; otherwise take the rights of the group away';
const ONE_USER = 'run the service and all commands as one user, and chown the file to it';

function shared(dataDir: string): Finding {
  const mode = `(mode ${modeOf(dataDir)})`;
  if (reachOf(dataDir, WRITE) === 'everybody') {
    return fail(`other users can write to it ${mode}`, `${OWN_FOLDER}: other users could replace store and key`);
  }
  if (reachOf(dataDir, READ) === 'everybody') {
    return warn(`other users can list it ${mode}`, `${OWN_FOLDER}: it holds payments and keys`);
  }
  return reachOf(dataDir) === 'group' ? warn(`its group can use it ${mode}`, ITS_GROUP) : ok('writable');
}

/** Files of another user: root may have run a command on them, or the service ran as somebody else before. */
function ofOtherUsers(dataDir: string): Finding[] {
  const files = readdirSync(dataDir).filter((name) => OWN_FILE.test(name));
  return files.flatMap((name) => {
    const owner = otherOwner(join(dataDir, name));
    if (owner === null) return [];
    return [whyDenied(join(dataDir, name)) === null ? warn(owner, ONE_USER) : fail(owner, ONE_USER)];
  });
}

const MEBIBYTE = 1024 ** 2;
const LITTLE_ROOM = 1_024 * MEBIBYTE;
const NO_ROOM = 64 * MEBIBYTE;

function room(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(existing(dataDir));
  const free = bavail * bsize;
  const says = `${Math.floor(free / MEBIBYTE)} MiB are free`;
  const todo = 'free disk space, or lower BROKER_RETENTION';
  if (free < NO_ROOM) return fail(says, todo);
  return free < LITTLE_ROOM ? warn(says, todo) : ok(says);
}

/** None if only its owner can read or write it. @param todo against access for all */
function access(path: string, todo: string): Finding[] {
  const reach = reachOf(path);
  if (reach === 'owner') return [];
  const says = `can read or write it (mode ${modeOf(path)})`;
  return [reach === 'group' ? warn(`its group ${says}`, ITS_GROUP) : fail(`other users ${says}`, todo)];
}

/** Checked in a few seconds, during which the process does nothing else. */
const LOOKED_AT_BYTES = 1024 ** 3;
const RESTORE = 'stop the service and restore a backup: see "A damaged file" in docs/operations.md';
const SECRET = 'run chmod 600 on it, and find out who may have read it';
/** They have payments, URLs and the history: a webhook that is changed in them sends payments elsewhere, signed. */
const PRIVATE = 'run chmod 600 on it, and 700 on DATA_DIR';

function database(path: string, name: string): Finding[] {
  return [...(name === STORE ? [damage(path)] : []), ...access(path, PRIVATE)];
}

function damage(path: string): Finding {
  if (whyDenied(path) !== null) return fail('this process may not use it', 'see DATA_DIR');
  const isLarge = statSync(path).size > LOOKED_AT_BYTES;
  if (isLarge && existsSync(path + DAMAGED)) return fail('the service met damage in it', RESTORE);
  if (isLarge) return ok('it is too large to be looked at as a whole: a backup does');
  const file = openExisting(path, 0);
  try {
    return soundness(file) === null ? ok('it is whole') : fail('it is damaged', RESTORE);
  } catch (error) {
    if (isBusy(error)) return ok('the service has it, and looks after it');
    throw error;
  } finally {
    file.close();
  }
}

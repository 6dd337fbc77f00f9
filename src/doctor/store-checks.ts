/** The event store, what it is sealed with, and the projections on its server. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Backbone, keysOf } from '../backbone.js';
import { checkKeys } from '../composition/check-keys.js';
import type { Config } from '../config.js';
import { type EventStore, WrongExpectedRevision } from '../ports/event-store.js';
import type { AccountCredentials } from '../read-model/accounts.js';
import { loadProjection, type ProjectionName } from '../read-model/projection-source.js';
import { sealedValues } from '../read-model/sealed-values.js';
import { masterKeyFromFile } from '../secrets/master-key-file.js';
import type { AccountWebhooks } from '../webhooks/state.js';
import { type Check, type Finding, ok, warn } from './check.js';
import { projectionsAtServer } from './projection-checks.js';

export type OpenedStore = Pick<Backbone, 'store' | 'projections'>;
/** Null where the embedded store was not made yet. @throws DataDirUnusable, NoConnectionString */
export type OpenStore = () => Promise<OpenedStore | null>;

const NOTHING_YET = ok('nothing is stored yet: serve makes it at its first start');
const NOT_LOOKED_AT = warn('it was not looked at, for the event store could not be used', 'see there');
const DRY_STREAM = 'doctor-dry-append';
/** No stream stands there: an append is refused, after everything else about it was looked at. */
const NO_REVISION = 1_000_000_000;

export function storeChecks(config: Config, open: OpenStore): Check[] {
  let looking: Promise<readonly Finding[]> | null = null;
  const look = () => {
    looking ??= whole(open, ({ store }) => usable(store));
    return looking;
  };
  /** What is wrong with the store itself is said once. */
  const then = (work: (opened: OpenedStore) => Promise<readonly Finding[]>) => () =>
    look().then(
      () => whole(open, work),
      () => [NOT_LOOKED_AT],
    );
  return [
    { name: 'event store', run: look },
    { name: 'MASTER_KEY', run: then(({ store }) => keys(config, store)) },
    ...(config.eventStoreUrl === null ? [] : [{ name: 'projections', run: then(projectionsAtServer) }]),
  ];
}

async function whole(open: OpenStore, work: (opened: OpenedStore) => Promise<readonly Finding[]>) {
  const opened = await open();
  return opened ? work(opened) : [NOTHING_YET];
}

async function usable(store: EventStore): Promise<readonly Finding[]> {
  for await (const _ of store.read(DRY_STREAM)) break;
  try {
    await store.append(DRY_STREAM, [{ id: randomUUID(), type: 'Nothing', data: {}, metadata: {} }], NO_REVISION);
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
  }
  return [ok('it can be read and appended to')];
}

/** @throws InvalidConfig */
async function keys(config: Config, store: EventStore): Promise<readonly Finding[]> {
  const { sealing } = keysOf(config, () => masterKeyOf(config));
  const webhooks = await folded<AccountWebhooks>(store, 'account-webhooks');
  const credentials = await folded<AccountCredentials>(store, 'account-credentials');
  const values = [...sealedValues({ all: () => webhooks }, { all: () => credentials }, Date.now())];
  checkKeys(values, sealing);
  return [ok(`it opens all that is sealed (${values.length} values of ${credentials.size} accounts)`)];
}

/** It is made by whoever starts first; not by looking. */
function masterKeyOf({ dataDir }: Config): Buffer {
  const isThere = existsSync(join(dataDir, 'master.key')) || existsSync(join(dataDir, 'store.sqlite'));
  return isThere ? masterKeyFromFile(dataDir, randomBytes) : randomBytes(32);
}

async function folded<S>(store: EventStore, name: ProjectionName): Promise<Map<string, S>> {
  const projection = loadProjection(name);
  const states = new Map<string, S>();
  const until = new AbortController();
  try {
    const { streamPrefix } = projection;
    for await (const batch of store.subscribe({ after: null, streamPrefix, signal: until.signal })) {
      for (const event of batch.events) {
        const before = states.get(event.stream) ?? projection.init();
        states.set(event.stream, projection.fold(before, event) as S);
      }
      if (batch.caughtUp) break;
    }
    return states;
  } finally {
    until.abort();
  }
}

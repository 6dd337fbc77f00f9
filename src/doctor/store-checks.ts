/** Checks the event store, the keys of its sealed values, and the projections on its server. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readModelOrigin } from '../adapters/sqlite/projection-states.js';
import { inDataDir } from '../adapters/sqlite/store-file.js';
import { type Backbone, keysOf, ownMasterKey } from '../composition/backbone.js';
import { checkKeys } from '../composition/check-keys.js';
import { type EventStore, WrongExpectedRevision } from '../ports/event-store.js';
import { combined, loadProjection, PROJECTIONS } from '../read-model/projection-source.js';
import { sealedValues } from '../read-model/sealed-values.js';
import { mustBeAccepted, readIdentity, readStoreId } from '../read-model/store-identity.js';
import { type FoldedStreams, foldStored, storedBatches } from '../read-model/stored-events.js';
import type { Config } from '../settings/config.js';
import type { AccountState } from '../webhooks/state.js';
import { accountsRead } from './accounts-check.js';
import { type Check, type Finding, ok, warn } from './check.js';
import { projectionsAtServer } from './projection-checks.js';
import { accountStreamMetadata } from './stream-metadata-check.js';

export type OpenedStore = Pick<Backbone, 'store' | 'projections'>;
/**
 * Null if the embedded store does not exist yet.
 * @throws DataDirUnusable, SchemaRefused, NoConnectionString, CaFileUnusable
 */
export type OpenStore = () => Promise<OpenedStore | null>;

type Work = (opened: OpenedStore) => Promise<readonly Finding[]>;

const NOTHING_YET = ok('no store yet: serve creates it at its first start');
const NOT_LOOKED_AT = warn('not checked, because the event store can not be used', 'see event store');
const DRY_STREAM = 'doctor-dry-append';
/** No stream has this revision: the store refuses the append after all its other checks. */
const NO_REVISION = 1_000_000_000;

export function storeChecks(config: Config, open: OpenStore): Check[] {
  let looking: Promise<readonly Finding[]> | null = null;
  const look = () => {
    looking ??= whole(open, ({ store }) => usable(store));
    return looking;
  };
  /** A fault of the store itself is reported once. */
  const then = (work: Work) => () =>
    look().then(
      () => whole(open, work),
      () => [NOT_LOOKED_AT],
    );
  let folding: Promise<FoldedStreams<AccountState>> | null = null;
  const fold = (store: EventStore) => {
    folding ??= foldStored<AccountState>(store, combined(PROJECTIONS.map(loadProjection)));
    return folding;
  };
  return [
    { name: 'event store', run: look },
    {
      name: 'history',
      run: () =>
        look().then(
          async () => ownHistory(config, await open()),
          () => [NOT_LOOKED_AT],
        ),
    },
    { name: 'MASTER_KEY', run: then(async ({ store }) => keys(config, await fold(store))) },
    { name: 'accounts', run: then(async ({ store }) => accountsRead(await fold(store))) },
    ...(config.eventStoreUrl === null ? [] : atServer(then)),
  ];
}

function atServer(then: (work: Work) => Check['run']): Check[] {
  return [
    { name: 'stream metadata', run: then(accountStreamMetadata) },
    { name: 'projections', run: then(({ projections }) => projectionsAtServer(projections)) },
  ];
}

async function whole(open: OpenStore, work: Work) {
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
  // Subscribing needs a right of its own: EventStoreDB subscribes to $all, which only administrators may read by
  // default.
  for await (const _ of storedBatches(store, await store.head(), DRY_STREAM));
  return [ok('reading, appending and subscribing work')];
}

/** Whether the service would start on this store, and with its read model unchanged. @throws OtherHistory */
async function ownHistory({ dataDir }: Config, opened: OpenedStore | null): Promise<readonly Finding[]> {
  const model = inDataDir(() => readModelOrigin(dataDir));
  const accepted = inDataDir(() => readStoreId(dataDir)) ?? model?.history ?? null;
  if (!opened && accepted === null) return [NOTHING_YET];
  const found = opened && (await readIdentity(opened.store));
  if (accepted === null) return [ok('no event store was accepted yet: serve accepts the one that it finds')];
  mustBeAccepted(found, accepted);
  // A read model of another history than the accepted one is rebuilt without asking.
  if (!opened || model?.history !== accepted || model.position === null) return [ok('the accepted store')];
  for await (const _ of storedBatches(opened.store, model.position, DRY_STREAM));
  return [ok('the accepted store, with all events that the read model was folded from')];
}

/** @throws InvalidConfig */
async function keys(config: Config, { states }: FoldedStreams<AccountState>): Promise<readonly Finding[]> {
  const { sealing } = keysOf(config, () => masterKeyOf(config));
  const all = [...states].map(([stream, { state }]) => [stream, state] as const);
  const values = [...sealedValues({ all: () => all }, Date.now())];
  checkKeys(values, sealing);
  return [ok(`opens all sealed values (${values.length})`)];
}

/** The first start creates the key; the doctor must not. */
function masterKeyOf({ dataDir }: Config): Buffer {
  const isThere = existsSync(join(dataDir, 'master.key')) || existsSync(join(dataDir, 'store.sqlite'));
  return isThere ? ownMasterKey(dataDir) : randomBytes(32);
}

/** Checks the event store, the keys of its sealed values, and the projections on its server. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readModelOrigin } from '../adapters/sqlite/projection-states.js';
import { inDataDir } from '../adapters/sqlite/store-file.js';
import { type Backbone, checkKeys, keysOf, ownMasterKey } from '../composition/backbone.js';
import { type EventStore, WrongExpectedRevision } from '../ports/event-store.js';
import { setAsideText } from '../read-model/account-unreadable.js';
import { combined, loadProjection, PROJECTIONS } from '../read-model/projection-source.js';
import { sealedValues } from '../read-model/sealed-values.js';
import { mustBeAccepted, readIdentity, readStoreId } from '../read-model/store-identity.js';
import { type FoldedStreams, foldStored, storedBatches } from '../read-model/stored-events.js';
import type { Config } from '../settings/read-config.js';
import type { AccountState } from '../webhooks/state.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';
import { projectionsAtServer } from './projection-checks.js';
import { checkStreamMetadata } from './stream-metadata.js';

export type OpenedStore = Pick<Backbone, 'store' | 'projections'>;
/** Null: no embedded store yet. @throws DataDirUnusable, SchemaRefused, NoConnectionString */
export type OpenStore = () => Promise<OpenedStore | null>;

type Findings = readonly Finding[];

const NOTHING_YET = ok('no store yet: serve creates it at its first start');
const KNOWN_TO_SERVICE = ok('the service at ADMIN_PORT reports on it, on its history, keys and accounts');
const NOT_LOOKED_AT = warn('not checked, because the event store can not be used', 'see event store');
const DRY_STREAM = 'doctor-dry-append';
/** No stream has this revision: the store refuses the append after all its other checks. */
const NO_REVISION = 1_000_000_000;

/** @param isServing a service reports on its store itself, but reads neither its projections nor the metadata of its streams */
export function storeChecks(config: Config, open: OpenStore, isServing: boolean): Check[] {
  let looking: Promise<readonly Finding[]> | null = null;
  const look = () => {
    looking ??= open().then((opened) => (opened ? usable(opened.store) : [NOTHING_YET]));
    return looking;
  };
  /** A fault of the store itself is reported once. */
  const afterwards = (work: (opened: OpenedStore | null) => Findings | Promise<Findings>) => () =>
    look().then(
      async () => work(await open()),
      () => [NOT_LOOKED_AT],
    );
  const inStore = (work: (opened: OpenedStore) => Promise<Findings>) =>
    afterwards((opened) => (opened ? work(opened) : [NOTHING_YET]));
  let folding: Promise<FoldedStreams<AccountState>> | null = null;
  const fold = (store: EventStore) => {
    folding ??= foldStored<AccountState>(store, combined(PROJECTIONS.map(loadProjection)));
    return folding;
  };
  const atServer = [
    { name: 'stream metadata', run: inStore(({ store }) => checkStreamMetadata(store)) },
    { name: 'projections', run: inStore(({ projections }) => projectionsAtServer(projections)) },
  ];
  const beforeStart = [
    { name: 'event store', run: look },
    { name: 'history', run: afterwards((opened) => ownHistory(config, opened)) },
    { name: 'MASTER_KEY', run: inStore(async ({ store }) => keys(config, await fold(store))) },
    { name: 'accounts', run: inStore(async ({ store }) => accountsRead(await fold(store))) },
  ];
  const known = { name: 'event store', run: () => [KNOWN_TO_SERVICE] };
  return [...(isServing ? [known] : beforeStart), ...(config.EVENT_STORE_URL === null ? [] : atServer)];
}

async function usable(store: EventStore): Promise<readonly Finding[]> {
  for await (const _ of store.read(DRY_STREAM)) break;
  try {
    await store.append(DRY_STREAM, [{ id: randomUUID(), type: 'Nothing', data: {}, metadata: {} }], NO_REVISION);
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
  }
  // Subscribing needs a right of its own: EventStoreDB subscribes to $all, by default only for administrators.
  for await (const _ of storedBatches(store, await store.head(), DRY_STREAM));
  return [ok('reading, appending and subscribing work')];
}

/** Whether the service would start on this store, and with its read model unchanged. @throws OtherHistory */
async function ownHistory({ DATA_DIR }: Config, opened: OpenedStore | null): Promise<readonly Finding[]> {
  const model = inDataDir(() => readModelOrigin(DATA_DIR));
  const accepted = inDataDir(() => readStoreId(DATA_DIR)) ?? model?.history ?? null;
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
  await checkKeys(values, sealing);
  return [ok(`opens all sealed values (${values.length})`)];
}

/** The first start creates the key; the doctor must not. */
function masterKeyOf({ DATA_DIR }: Config): Buffer {
  const isThere = existsSync(join(DATA_DIR, 'master.key')) || existsSync(join(DATA_DIR, 'store.sqlite'));
  return isThere ? ownMasterKey(DATA_DIR) : randomBytes(32);
}

const READ_AGAIN =
  'find out who else writes to the event store; install a release that reads the event, restart, and run dead-letters replay';
const SHOW_AGAIN =
  "undo what hides its events (docs/operations.md, Metadata of accounts' streams), and run dead-letters replay";

function accountsRead({ states, unreadable, hidden }: FoldedStreams<AccountState>): readonly Finding[] {
  const found = [
    ...[...hidden].map(([stream, event]) => fail(setAsideText(stream, event), SHOW_AGAIN)),
    ...[...unreadable].map(([stream, event]) => fail(setAsideText(stream, event), READ_AGAIN)),
  ];
  return found.length > 0 ? found : [ok(`every event of theirs can be read (${states.size} accounts and publishers)`)];
}

/** Which identity `store accept` gives to an event store, for several DATA_DIRs that use it. */
import { randomUUID } from 'node:crypto';
import { acceptIdentity, readIdentity, readStoreIds, writeStoreId } from '../../src/read-model/store-identity.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { SqliteFolder } from '../support/servers/sqlite-folder.js';

let folder: SqliteFolder;
let store: ReturnType<SqliteFolder['open']>['store'];
beforeEach(() => {
  folder = new SqliteFolder();
  ({ store } = folder.open());
});
afterEach(() => folder.close());

const accept = (...accepted: readonly string[]) => acceptIdentity({ store, newId: randomUUID }, accepted);

describe('store accept', () => {
  test('begins an identity for an empty store, whatever was accepted before', async () => {
    const identity = await accept('former');
    expect(await readIdentity(store)).toBe(identity);
    expect(identity).not.toBe('former');
  });

  test('takes the identity of a store that this DATA_DIR never accepted', async () => {
    const identity = await accept();
    expect(await accept('former')).toBe(identity);
    expect(await accept()).toBe(identity);
  });

  test('begins a new identity for a store with the accepted one: it was restored', async () => {
    const before = await accept();
    const after = await accept(before);
    expect(after).not.toBe(before);
    expect(await readIdentity(store)).toBe(after);
  });

  test('leads two DATA_DIRs on one restored store to the same identity, in turn or at the same moment', async () => {
    const before = await accept();
    const [one, other] = await Promise.all([accept(before), accept(before)]);
    expect(other).toBe(one);
    expect(await accept(before)).toBe(one);
  });
});

test('store-id keeps the identities that were accepted before, the current one last', () => {
  const { path, remove } = temporaryDirectory();
  folder.onClose(remove);
  expect(readStoreIds(path)).toEqual([]);
  for (const identity of ['one', 'other']) writeStoreId(path, identity);
  expect(readStoreIds(path)).toEqual(['one', 'other']);
});

import { lockDataDir } from '../../../src/adapters/sqlite/data-dir-lock.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const LONG_MS = 60_000;

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

test('a second process is refused, and gets the folder once the first is killed', async () => {
  const first = folder.child('lockFolder');
  await first.told(1);
  await expect(lockDataDir(folder.dataDir, 0)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
  const waiting = lockDataDir(folder.dataDir, LONG_MS);
  await first.kill();
  const release = await waiting;
  await expect(lockDataDir(folder.dataDir, 0)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
  release();
  (await lockDataDir(folder.dataDir, 0))();
});

test('a wait ends with its signal, and leaves the folder to others', async () => {
  const release = await lockDataDir(folder.dataDir, 0);
  const stopping = new AbortController();
  const waiting = lockDataDir(folder.dataDir, LONG_MS, stopping.signal);
  stopping.abort();
  await expect(waiting).rejects.toThrow('aborted');
  release();
  (await lockDataDir(folder.dataDir, 0))();
});

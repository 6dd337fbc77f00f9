import { hostname } from 'node:os';
import { lockDataDir } from '../../../src/adapters/sqlite/data-dir-lock.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const LONG_MS = 60_000;

let folder: SqliteFolder;
beforeEach(() => {
  folder = new SqliteFolder();
});
afterEach(() => folder.close());

test('a second process is refused with the name of the first, and gets the folder once that is killed', async () => {
  const first = folder.child('lockFolder');
  await first.told(1);
  const holder = expect.stringMatching(new RegExp(`^process \\d+ on ${hostname()}$`));
  await expect(lockDataDir(folder.dataDir, 0)).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE', holder });
  const waiting = lockDataDir(folder.dataDir, LONG_MS);
  await first.kill();
  const release = await waiting;
  await expect(lockDataDir(folder.dataDir, 0)).rejects.toMatchObject({
    holder: `process ${process.pid} on ${hostname()}`,
  });
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

/** The faults take effect, in Node's clock and in SQLite, and on the named file alone. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DRIVER_PACKAGE } from '../../src/adapters/sqlite/open-file.js';
import { FaultyLibc, withFaultyLibc } from './faulty-libc.js';
import { temporaryDirectory } from './temporary-directory.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DAY_MS = 86_400_000;
const COMMIT = `
  const Database = require('${DRIVER_PACKAGE}');
  const file = new Database(process.argv[1]);
  try {
    file.pragma('journal_mode = WAL');
    file.pragma('synchronous = FULL');
    file.exec('CREATE TABLE IF NOT EXISTS t (x); INSERT INTO t VALUES (1)');
    console.log('committed');
  } catch (error) {
    console.log(error.code);
  }`;

withFaultyLibc(() => {
  let folder: ReturnType<typeof temporaryDirectory>;
  let libc: FaultyLibc;
  beforeEach(() => {
    folder = temporaryDirectory();
    libc = new FaultyLibc('the-word');
  });
  afterEach(() => {
    libc.close();
    folder.remove();
  });

  function node(program: string, ...args: string[]): string {
    const env = { PATH: process.env.PATH ?? '', ...libc.settings };
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', program, ...args], { env, cwd: HERE });
    if (stderr.length > 0) throw new Error(String(stderr));
    return String(stdout).trim();
  }

  test.each([DAY_MS, -DAY_MS / 24])('the clock is shifted by %s ms, and timers are not', (ms) => {
    libc.shiftClock(ms);
    const program =
      'const at = performance.now(); setTimeout(() => console.log(Date.now(), performance.now() - at), 20)';
    const [now = 0, waited = 0] = node(program).split(' ').map(Number);
    expect(Math.abs(now - ms - Date.now())).toBeLessThan(60_000);
    expect(waited).toBeGreaterThan(10);
    expect(waited).toBeLessThan(60_000);
  });

  test('a commit fails on a full disk, and where the sync fails', () => {
    expect(node(COMMIT, `${folder.path}/the-word`)).toBe('committed');
    libc.diskFull(1);
    expect(node(COMMIT, `${folder.path}/the-word`)).toMatch(/^SQLITE_(FULL|IOERR)/);
    expect(libc.writesRefused).toBeGreaterThan(0);
    libc.diskFull(0);
    libc.syncFails(1);
    expect(node(COMMIT, `${folder.path}/the-word`)).toBe('SQLITE_IOERR_FSYNC');
    expect(libc.syncsRefused).toBeGreaterThan(0);
  });

  test('other files are left alone', () => {
    libc.diskFull(1);
    libc.syncFails(1);
    expect(node(COMMIT, `${folder.path}/another`)).toBe('committed');
  });
});

import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScratchFile } from '../../../src/adapters/sqlite/scratch-file.js';
import { ScratchUnusable } from '../../../src/ports/scratch.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';

const ADD = 'INSERT INTO names VALUES ($name)';
let folder: string;
let remove: () => void;
let scratch: ScratchFile | null;
beforeEach(() => {
  ({ path: folder, remove } = temporaryDirectory());
  scratch = null;
});
afterEach(() => {
  scratch?.close();
  remove();
});

function open(bytes = 0): ScratchFile {
  scratch = ScratchFile.open(folder, bytes);
  scratch.define('CREATE TABLE names (name TEXT)');
  return scratch;
}

/** Of this process's open scratch files; Linux alone tells. */
function modes(): readonly number[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    const path = `/proc/self/fd/${fd}`;
    const isScratch = existsSync(path) && readlinkSync(path).startsWith(folder);
    return isScratch ? [statSync(path).mode & 0o777] : [];
  });
}

test('gives back what was written, while its folder holds nothing that a kill could leave', () => {
  const tables = open();
  for (const name of ['one', 'two']) tables.run(ADD, { name });
  expect([...tables.rows('SELECT name FROM names')]).toEqual([{ name: 'one' }, { name: 'two' }]);
  expect(tables.row('SELECT count(*) AS count FROM names')).toEqual({ count: 2 });
  expect(readdirSync(folder)).toEqual([]);
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('can be read by its owner alone', () => {
  open();
  expect(modes()).toEqual([0o600]);
});

test('removes what runs that were killed have left, and nothing else', () => {
  const made = (name: string, content: string | null, minutes: number) => {
    mkdirSync(join(folder, name));
    if (content !== null) writeFileSync(join(folder, name, 'scratch.sqlite'), content);
    utimesSync(join(folder, name), 0, Date.now() / 1_000 - 60 * minutes);
  };
  made('account-webhooks-scratch-1', null, 2);
  made('account-webhooks-scratch-2', 'SQLite', 2);
  made('account-webhooks-scratch-3', 'of a run that opens it now', 0);
  made('account-webhooks-4', null, 2);
  open();
  expect(readdirSync(folder)).toEqual(['account-webhooks-4', 'account-webhooks-scratch-3']);
});

test('is refused where its folder has less room than it may need', () => {
  expect(() => open(Number.MAX_SAFE_INTEGER)).toThrow(ScratchUnusable);
  const both = /has \d+ MiB free, and 8589934592 MiB may be needed: name another folder with --scratch/;
  expect(() => open(Number.MAX_SAFE_INTEGER)).toThrow(both);
});

test('names the remedy where the disk becomes full', () => {
  const tables = open();
  tables.define('PRAGMA max_page_count = 10');
  const fill = () => {
    for (let n = 0; n < 1_000; n += 1) tables.run(ADD, { name: 'x'.repeat(1_000) });
  };
  expect(fill).toThrow(/SQLITE_FULL.*--scratch/);
});

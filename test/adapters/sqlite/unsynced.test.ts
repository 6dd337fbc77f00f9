import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openFile, type SqliteFile } from '../../../src/adapters/sqlite/open-file.js';
import { endUnsynced, writeUnsynced } from '../../../src/adapters/sqlite/unsynced.js';
import { temporaryDirectory } from '../../support/temporary-directory.js';

const OFF = 0;
const FULL = 2;

let directory: ReturnType<typeof temporaryDirectory>;
let file: SqliteFile;
beforeEach(() => {
  directory = temporaryDirectory();
  file = open();
});
afterEach(() => {
  file.close();
  directory.remove();
});

function open(): SqliteFile {
  const opened = openFile(`${directory.path}/file.sqlite`);
  opened.pragma('journal_mode = WAL');
  opened.exec('CREATE TABLE IF NOT EXISTS things (text TEXT)');
  return opened;
}

const synchronous = () => file.pragma('synchronous', { simple: true });

/** As the process ends that does not close it in order. */
function openAgain(boot: string): boolean {
  file.close();
  file = open();
  return writeUnsynced(file, boot);
}

test('nothing waits for the disk, from the moment on that the file says so', () => {
  expect([writeUnsynced(file, 'one'), synchronous()]).toEqual([true, OFF]);
});

test.each([
  ['the same boot', 'one', 'one', true],
  ['another boot', 'one', 'two', false],
  ['a boot that nobody knows', 'unknown', 'unknown', false],
  ['a boot that is known again', 'unknown', 'one', false],
])('left open in %s', (_, first, second, good) => {
  writeUnsynced(file, first);
  expect(openAgain(second)).toBe(good);
});

test.each(['one', 'unknown'])('closed in order it is good in any boot: %s', (boot) => {
  writeUnsynced(file, boot);
  file.exec("INSERT INTO things VALUES ('a')");
  endUnsynced(file);
  expect(openAgain('two')).toBe(true);
  expect(openAgain('two')).toBe(true);
  expect(openAgain('three')).toBe(false);
});

test('where there is no room to say so everything waits for the disk', () => {
  file.exec('CREATE TABLE left_open (boot TEXT NOT NULL)');
  for (let rows = 0; rows < 100; rows += 1) file.exec(`INSERT INTO things VALUES ('${'x'.repeat(1_000)}')`);
  file.pragma(`max_page_count = ${file.pragma('page_count', { simple: true })}`);
  const boot = 'x'.repeat(10_000);
  expect([writeUnsynced(file, boot), synchronous()]).toEqual([true, FULL]);
  expect(() => endUnsynced(file)).not.toThrow();
});

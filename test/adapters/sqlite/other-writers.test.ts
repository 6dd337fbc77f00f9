/** How often it is asked whether another process wrote. See other-process.test.ts for how soon one is known by then. */
import { once } from 'node:events';
import { watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFile, useWal } from '../../../src/adapters/sqlite/open-file.js';
import { StoreChanges } from '../../../src/adapters/sqlite/store-changes.js';
import { temporaryDirectory } from '../../support/scenes/temporary-directory.js';

const SECONDS = 10;

let directory: ReturnType<typeof temporaryDirectory>;
let walPath: string;
let looks: number;
let changes: StoreChanges;

beforeEach(() => {
  directory = temporaryDirectory();
  const name = join(directory.path, 'store.sqlite');
  walPath = `${name}-wal`;
  looks = 0;
  const get = () => {
    looks += 1;
    return 1;
  };
  const prepare = () => ({ pluck: () => ({ get }) });
  changes = new StoreChanges({ name, prepare } as unknown as ConstructorParameters<typeof StoreChanges>[0]);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => {
  changes.close();
  jest.useRealTimers();
  directory.remove();
});

async function noticedChange(change: () => void): Promise<void> {
  const another = watch(walPath);
  const noticed = once(another, 'change');
  change();
  await noticed;
  another.close();
}

/** Once it has listened for a while. */
function looksInSeconds(): number {
  jest.advanceTimersByTime(2_000);
  const before = looks;
  jest.advanceTimersByTime(1_000 * SECONDS);
  return looks - before;
}

test('asks seldom while nothing is written', () => {
  writeFileSync(walPath, '');
  changes.listen(() => undefined);
  expect(looksInSeconds()).toBeLessThanOrEqual(SECONDS);
  expect(looks).toBeGreaterThan(0);
});

test('asks often all the time where the file can not be watched', () => {
  changes.listen(() => undefined);
  expect(looksInSeconds()).toBeGreaterThan(90 * SECONDS);
});

describe('at rest, another connection is noticed at once', () => {
  const written = (...sql: string[]) => {
    const other = openFile(join(directory.path, 'store.sqlite'));
    for (const one of sql) other.exec(one);
    other.close();
  };

  test.each([
    ['as it writes', []],
    ['as it writes again', ['INSERT INTO one VALUES (1)']],
    ['as it writes, after the -wal file was truncated', ['PRAGMA wal_checkpoint(TRUNCATE)']],
  ])('%s', async (_, before) => {
    const file = openFile(join(directory.path, 'store.sqlite'));
    useWal(file);
    file.exec('CREATE TABLE one (value)');
    changes = new StoreChanges(file);
    const heard = jest.fn();
    changes.listen(heard);
    written(...before);
    looksInSeconds();
    heard.mockClear();
    await noticedChange(() => written('INSERT INTO one VALUES (2)'));
    jest.advanceTimersByTime(10);
    expect(heard).toHaveBeenCalledTimes(1);
    changes.close();
    file.close();
  });
});

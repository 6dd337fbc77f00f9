import { truncateSync, writeFileSync } from 'node:fs';
import { driver } from '../../../src/adapters/sqlite/open-file.js';
import { openProjectionStates, removeCorruptStates } from '../../../src/adapters/sqlite/projection-states.js';
import type { ProjectionState, ProjectionStates } from '../../../src/ports/projection-states.js';
import { damageFile } from '../../support/scenes/sqlite-subjects.js';
import { SqliteFolder } from '../../support/servers/sqlite-folder.js';

const ORIGIN = { version: 'version', history: 'history' };

let folder: SqliteFolder;
let damaged: string[];
beforeEach(() => {
  folder = new SqliteFolder();
  damaged = [];
});
afterEach(() => folder.close());

const path = (name = 'read-model.sqlite') => `${folder.dataDir}/${name}`;

function open(): ProjectionStates {
  const states = openProjectionStates(folder.dataDir, (file) => damaged.push(file));
  folder.onClose(() => states.close());
  return states;
}

function fill(states: ProjectionStates): void {
  const json = JSON.stringify('x'.repeat(1_000));
  states.open(ORIGIN);
  commit(
    states,
    'p1',
    new Map(Array.from({ length: 500 }, (_, n) => [`stream-${n}`, { ...STATE, revision: n, json }])),
  );
}

const STATE: ProjectionState = { revision: 0, eventId: 'id', json: '{}' };

function commit(states: ProjectionStates, position: string, changed: ReadonlyMap<string, ProjectionState>): void {
  states.commit({ states: changed, keys: [], setAside: new Map(), position });
}

function changed(sql: string): void {
  const file = new (driver())(path());
  file.exec(sql);
  file.close();
}

test.each([
  ['damaged in the middle', () => damageFile(path())],
  ['damaged at its beginning', () => damageFile(path(), 0)],
  ['not of SQLite', () => writeFileSync(path(), 'this is a text file, and not a short one at that. '.repeat(100))],
  ['cut off in the middle', () => truncateSync(path(), 64 * 1024)],
  ["another program's SQLite file", () => changed('PRAGMA application_id = 7; CREATE TABLE theirs (a)')],
  ['of another shape', () => changed('PRAGMA user_version = 99')],
  ['of the release before', () => changed('PRAGMA user_version = 1')],
  ['of a program that gives its files no id', () => changed('PRAGMA application_id = 0; PRAGMA user_version = 0')],
])('a read model that is %s is deleted, reported, and rebuilt', async (_, damage) => {
  const first = open();
  fill(first);
  first.close();
  damage();
  await removeCorruptStates(folder.dataDir, (file) => damaged.push(file));
  const states = open();
  expect(damaged).toEqual(['read-model.sqlite']);
  expect([states.open(ORIGIN), [...states.all()]]).toEqual([null, []]);
  fill(states);
  states.close();
  const again = open();
  expect([again.open(ORIGIN), [...again.all()].length, damaged.length]).toEqual(['p1', 500, 1]);
});

test('an intact read model is checked while the event loop serves others, and stays', async () => {
  const first = open();
  fill(first);
  first.close();
  let ticks = 0;
  const counting = setInterval(() => {
    ticks += 1;
  }, 0);
  await removeCorruptStates(folder.dataDir, (file) => damaged.push(file));
  clearInterval(counting);
  expect(ticks).toBeGreaterThan(0);
  const again = open();
  expect([again.open(ORIGIN), [...again.all()].length, damaged]).toEqual(['p1', 500, []]);
});

test.each([99, 100, 101, 200])('all gives every one of %d states, once each and in order', (count) => {
  const states = open();
  states.open(ORIGIN);
  // Each name is the beginning of the next but for a NUL, the smallest difference there is.
  const names = Array.from({ length: count / 2 }, (_, n) => [`account-${n}`, `account-${n}\0`]).flat();
  if (count % 2) names.push('');
  commit(states, 'p1', new Map(names.map((name) => [name, STATE])));
  expect([...states.all()].map(([name]) => name)).toEqual(names.toSorted());
});

test('kill -9 in the middle of commits: states and position are those of one commit, and of the last that was told', async () => {
  const child = folder.child('commitStates');
  await child.told(3);
  await child.kill();
  const states = open();
  const position = Number(states.open(ORIGIN));
  expect([...states.all()].map(([, { revision }]) => revision)).toEqual([position, position, position]);
  expect(position).toBeGreaterThanOrEqual(Number(child.lines.at(-1)));
  expect(damaged).toEqual([]);
});

/** The contract of src/ports/projection-states.ts: every sentence of its comment is a case. */
import {
  type KeptKey,
  type ProjectionState,
  type ProjectionStates,
  type StateChanges,
  StatesDamaged,
} from '../../src/ports/projection-states.js';
import type { ContractCase, Feature, Subject } from './contract.js';

type StatesSubject = Subject<ProjectionStates>;
type StatesCase = ContractCase<StatesSubject>;

const ORIGIN = { version: 'version 1', history: 'history 1' };
const OTHER_VERSION = { ...ORIGIN, version: 'version 2' };
const OTHER_HISTORY = { ...ORIGIN, history: 'history 2' };

const state = (revision: number, value: unknown = { revision }): ProjectionState => ({
  revision,
  eventId: `event ${revision}`,
  json: JSON.stringify(value),
});
const changes = (position: string, ...entries: [string, ProjectionState][]): StateChanges => ({
  states: new Map(entries),
  keys: [],
  setAside: new Map(),
  position,
});
const ASIDE = { why: 'its data has no url' };
const OTHERWISE = { why: 'its stream was deleted' };
const key = (stream: string, name: string, at = 1_000): KeptKey => ({ stream, key: name, at, use: `${name} of ${at}` });

function statesCase(name: string, act: (subject: StatesSubject) => Promise<void> | void, needs?: Feature) {
  const run = async (subject: StatesSubject) => act(subject);
  return needs ? { name, needs, run } : { name, run };
}

/** Two states and a key, committed at position 'p1'. */
function filled({ port }: StatesSubject): ProjectionStates {
  port.open(ORIGIN);
  port.commit({ ...changes('p1', ['a', state(1)], ['b', state(2)]), keys: [key('a', 'k')] });
  return port;
}

const positions: StatesCase[] = [
  statesCase('one that is new has no position, no history and no states', ({ port }) => {
    expect(port.history).toBeNull();
    expect(port.open(ORIGIN)).toBeNull();
    expect([port.load('a'), [...port.all()], port.key('a', 'k')]).toEqual([undefined, [], undefined]);
    expect(port.history).toBe(ORIGIN.history);
  }),
  statesCase('commit puts states and keys in the place of earlier ones and leaves the others', (subject) => {
    const port = filled(subject);
    port.commit({ ...changes('p2', ['b', state(7)], ['c', state(0)]), keys: [key('a', 'k', 2_000)] });
    expect([...port.all()]).toEqual([
      ['a', state(1)],
      ['b', state(7)],
      ['c', state(0)],
    ]);
    expect(port.key('a', 'k')).toBe('k of 2000');
    expect(port.open(ORIGIN)).toBe('p2');
  }),
  statesCase('commit sets a stream aside, puts another reason in its place, and takes it back', (subject) => {
    const port = filled(subject);
    expect([...port.setAside()]).toEqual([]);
    port.commit({
      ...changes('p2'),
      setAside: new Map([
        ['c', ASIDE],
        ['a', ASIDE],
      ]),
    });
    expect([...port.setAside()]).toEqual([
      ['a', ASIDE],
      ['c', ASIDE],
    ]);
    port.commit({
      ...changes('p3'),
      setAside: new Map([
        ['a', OTHERWISE],
        ['c', null],
      ]),
    });
    expect([...port.setAside()]).toEqual([['a', OTHERWISE]]);
    expect(port.load('a')).toEqual(state(1));
  }),
  statesCase('commit is one transaction: where a part of it fails nothing is stored', (subject) => {
    const port = filled(subject);
    const unstorable = { ...state(9), json: Symbol('none') as unknown as string };
    const aside = { keys: [key('a', 'l')], setAside: new Map([['c', ASIDE]]) };
    const failing = { ...changes('p2', ['a', state(9)], ['b', unstorable]), ...aside };
    expect(() => port.commit(failing)).toThrow();
    expect([port.load('a'), port.load('b'), port.open(ORIGIN)]).toEqual([state(1), state(2), 'p1']);
    expect([port.key('a', 'l'), port.setAside().size]).toEqual([undefined, 0]);
  }),
  statesCase('what was committed is there when it is opened again', async (subject) => {
    filled(subject).commit({ ...changes('p1'), setAside: new Map([['c', ASIDE]]) });
    const port = await subject.reopen();
    expect([port.history, port.open(ORIGIN), port.key('a', 'k')]).toEqual([ORIGIN.history, 'p1', 'k of 1000']);
    expect([...port.setAside()]).toEqual([['c', ASIDE]]);
    expect([...port.all()]).toEqual([
      ['a', state(1)],
      ['b', state(2)],
    ]);
  }),
];

const forgets = (what: string, origin: typeof ORIGIN) =>
  statesCase(`open with another ${what} forgets states, keys, what is set aside, and position`, (subject) => {
    const port = filled(subject);
    port.commit({ ...changes('p1'), setAside: new Map([['c', ASIDE]]) });
    expect(port.open(origin)).toBeNull();
    expect(port.setAside().size).toBe(0);
    expect([[...port.all()], port.key('a', 'k'), port.history]).toEqual([[], undefined, origin.history]);
    expect(port.open(origin)).toBeNull();
    expect(port.open(ORIGIN)).toBeNull();
  });

const origins: StatesCase[] = [forgets('version', OTHER_VERSION), forgets('history', OTHER_HISTORY)];

const contents: StatesCase[] = [
  statesCase('all gives every state in the order of stream names', ({ port }) => {
    const names = ['b', 'a', 'account-9', 'account-10', 'account-1', 'B', ''];
    port.open(ORIGIN);
    port.commit(changes('p', ...names.map((name, index): [string, ProjectionState] => [name, state(index)])));
    expect([...port.all()].map(([name]) => name)).toEqual(names.toSorted());
    for (const [name, found] of port.all()) expect(found).toEqual(state(names.indexOf(name)));
  }),
  statesCase('states come back as they were given', ({ port }) => {
    const value = { text: '\u0000"\\ä漢😀', large: 'x'.repeat(300_000), number: Number.MAX_SAFE_INTEGER };
    port.open(ORIGIN);
    port.commit(changes('a position, ä/😀', ['ä/%_ 😀', state(Number.MAX_SAFE_INTEGER, value)]));
    expect(port.load('ä/%_ 😀')).toEqual(state(Number.MAX_SAFE_INTEGER, value));
    expect(port.open(ORIGIN)).toBe('a position, ä/😀');
  }),
  statesCase('forgetKeys forgets those that were kept earlier, and no others', (subject) => {
    const port = filled(subject);
    port.commit({ ...changes('p2'), keys: [key('a', 'later', 2_000), key('b', 'k', 1_999)] });
    port.forgetKeys(2_000);
    expect([port.key('a', 'k'), port.key('b', 'k'), port.key('a', 'later')]).toEqual([
      undefined,
      undefined,
      'later of 2000',
    ]);
    expect(port.load('a')).toEqual(state(1));
  }),
];

const owners: StatesCase[] = [
  statesCase(
    'a method that finds the states damaged throws StatesDamaged, and they are gone at the next start',
    async (subject) => {
      const large = 'x'.repeat(64 * 1024);
      const many = Array.from({ length: 600 }, (_, n): [string, ProjectionState] => [`s${n}`, state(n, large)]);
      filled(subject).commit(changes('p2', ...many));
      const opened = await subject.reopen();
      await subject.damage();
      expect(() => [...opened.all()]).toThrow(StatesDamaged);
      const port = await subject.reopen();
      expect([port.open(ORIGIN), [...port.all()]]).toEqual([null, []]);
    },
    'damage',
  ),
];

export const cases: readonly StatesCase[] = [...positions, ...origins, ...contents, ...owners];

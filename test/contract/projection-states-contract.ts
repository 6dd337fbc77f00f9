/** The contract of src/ports/projection-states.ts: every sentence of its comment is a case. */
import { expect } from '@jest/globals';
import { type ProjectionState, type ProjectionStates, StatesDamaged } from '../../src/ports/projection-states.js';
import type { ContractCase, Features, Subject } from './contract.js';

type StatesSubject = Subject<ProjectionStates>;
type StatesCase = ContractCase<StatesSubject>;

const P = 'projection';
const V1 = 'version 1';

const state = (revision: number, value: unknown = { revision }): ProjectionState => ({
  revision,
  json: JSON.stringify(value),
});
const states = (...entries: [string, ProjectionState][]) => new Map(entries);

function statesCase(name: string, act: (subject: StatesSubject) => Promise<void> | void, needs?: keyof Features) {
  const run = async (subject: StatesSubject) => act(subject);
  return needs ? { name, needs, run } : { name, run };
}

/** Two states committed at position 'p1'. */
function filled({ port }: StatesSubject, projection = P): ProjectionStates {
  port.open(projection, V1);
  port.commit(projection, states(['a', state(1)], ['b', state(2)]), 'p1');
  return port;
}

const positions: StatesCase[] = [
  statesCase('a projection that is new has no position and no states', ({ port }) => {
    expect(port.open(P, V1)).toBeNull();
    expect([port.load(P, 'a'), [...port.all(P)]]).toEqual([undefined, []]);
  }),
  statesCase('commit stores states and position', (subject) => {
    const port = filled(subject);
    expect([port.load(P, 'a'), port.load(P, 'b'), port.load(P, 'c')]).toEqual([state(1), state(2), undefined]);
    expect(port.open(P, V1)).toBe('p1');
  }),
  statesCase('commit puts states in the place of earlier ones and leaves the others', (subject) => {
    const port = filled(subject);
    port.commit(P, states(['b', state(7)], ['c', state(0)]), 'p2');
    expect([...port.all(P)]).toEqual([
      ['a', state(1)],
      ['b', state(7)],
      ['c', state(0)],
    ]);
    expect(port.open(P, V1)).toBe('p2');
  }),
  statesCase('commit without states moves the position', (subject) => {
    const port = filled(subject);
    port.commit(P, new Map(), 'p2');
    expect([port.open(P, V1), [...port.all(P)].length]).toEqual(['p2', 2]);
  }),
  statesCase('commit is one transaction: where a part of it fails nothing is stored', (subject) => {
    const port = filled(subject);
    const unstorable = { revision: 9, json: Symbol('none') as unknown as string };
    expect(() => port.commit(P, states(['a', state(9)], ['b', unstorable]), 'p2')).toThrow();
    expect([port.load(P, 'a'), port.load(P, 'b'), port.open(P, V1)]).toEqual([state(1), state(2), 'p1']);
  }),
  statesCase(
    'what was committed is there when it is opened again',
    async (subject) => {
      filled(subject);
      const port = await subject.reopen();
      expect(port.open(P, V1)).toBe('p1');
      expect([...port.all(P)]).toEqual([
        ['a', state(1)],
        ['b', state(2)],
      ]);
    },
    'reopen',
  ),
];

const versions: StatesCase[] = [
  statesCase('open with another version forgets states and position', (subject) => {
    const port = filled(subject);
    expect(port.open(P, 'version 2')).toBeNull();
    expect([...port.all(P)]).toEqual([]);
    expect(port.open(P, 'version 2')).toBeNull();
    expect(port.open(P, V1)).toBeNull();
  }),
  statesCase(
    'the version is remembered',
    async (subject) => {
      filled(subject).open('other', 'version 2');
      const port = await subject.reopen();
      expect([port.open(P, 'version 2'), port.load(P, 'a')]).toEqual([null, undefined]);
    },
    'reopen',
  ),
  statesCase('reset forgets states and position and keeps the version', (subject) => {
    const port = filled(subject);
    port.reset(P);
    expect([...port.all(P), port.load(P, 'a')]).toEqual([undefined]);
    port.commit(P, states(['a', state(5)]), 'p5');
    expect(port.open(P, V1)).toBe('p5');
  }),
  statesCase('after reset the position is that of nothing yet', (subject) => {
    const port = filled(subject);
    port.reset(P);
    expect(port.open(P, V1)).toBeNull();
  }),
  statesCase('projections do not disturb one another', (subject) => {
    const port = filled(subject);
    filled(subject, 'other');
    port.commit('other', states(['a', state(9)]), 'p9');
    port.reset('third');
    port.open('other', 'version 2');
    expect([port.load(P, 'a'), port.open(P, V1), [...port.all('other')]]).toEqual([state(1), 'p1', []]);
  }),
];

const contents: StatesCase[] = [
  statesCase('all gives every state in the order of stream names', ({ port }) => {
    const names = ['b', 'a', 'account-9', 'account-10', 'account-1', 'B', ''];
    port.open(P, V1);
    port.commit(P, states(...names.map((name, index): [string, ProjectionState] => [name, state(index)])), 'p');
    expect([...port.all(P)].map(([name]) => name)).toEqual(names.toSorted());
    for (const [name, found] of port.all(P)) expect(found).toEqual(state(names.indexOf(name)));
  }),
  statesCase('all may be left, and used beside commit', (subject) => {
    const port = filled(subject);
    for (const [name] of port.all(P)) {
      port.commit(P, states([name, state(8)]), 'p8');
      break;
    }
    expect(port.load(P, 'a')).toEqual(state(8));
  }),
  statesCase('states come back as they were given', ({ port }) => {
    const value = { text: '\u0000"\\ä漢😀', large: 'x'.repeat(300_000), number: Number.MAX_SAFE_INTEGER };
    port.open(P, V1);
    port.commit(P, states(['ä/%_ 😀', state(Number.MAX_SAFE_INTEGER, value)]), 'a position, ä/😀');
    expect(port.load(P, 'ä/%_ 😀')).toEqual(state(Number.MAX_SAFE_INTEGER, value));
    expect(port.open(P, V1)).toBe('a position, ä/😀');
  }),
];

const owners: StatesCase[] = [
  statesCase(
    'it belongs to one process: another has states of its own',
    async (subject) => {
      const port = filled(subject);
      const other = await subject.another();
      expect(other.open(P, V1)).toBeNull();
      other.commit(P, states(['a', state(9)]), 'p9');
      other.reset(P);
      expect([port.load(P, 'a'), port.open(P, V1)]).toEqual([state(1), 'p1']);
    },
    'severalProcesses',
  ),
  statesCase(
    'a method that finds the states damaged throws StatesDamaged, and they are gone at the next start',
    async (subject) => {
      const large = 'x'.repeat(64 * 1024);
      const many = Array.from({ length: 600 }, (_, n): [string, ProjectionState] => [`s${n}`, state(n, large)]);
      filled(subject).commit(P, states(...many), 'p2');
      const opened = await subject.reopen();
      await subject.damage();
      expect(() => [...opened.all(P)]).toThrow(StatesDamaged);
      const port = await subject.reopen();
      expect([port.open(P, V1), [...port.all(P)]]).toEqual([null, []]);
    },
    'damage',
  ),
  statesCase('close may be called twice', ({ port }) => {
    port.close();
    expect(() => port.close()).not.toThrow();
  }),
];

export const cases: readonly StatesCase[] = [...positions, ...versions, ...contents, ...owners];

import { fairLookup, type LookupFor } from '../../src/endpoints/resolve.js';

const ADDRESSES = [{ address: '192.0.2.1', family: 4 }];

let now: number;
let running: Map<string, () => void>;
let resolved: string[];
let lookup: LookupFor;
let accounts: number;

beforeEach(() => {
  now = 0;
  accounts = 0;
  running = new Map();
  resolved = [];
  lookup = fairLookup(
    (hostname, _, callback) => void running.set(hostname, () => callback(null, ADDRESSES)),
    () => now,
  );
});

function askOf(accountId: number, ...names: string[]): void {
  for (const name of names) lookup(name, { all: true }, () => resolved.push(name), accountId);
}

/** Each of an account of its own. */
function ask(...names: string[]): void {
  for (const name of names) {
    accounts += 1;
    askOf(accounts, name);
  }
}

/** The name's servers answer after so long. */
function answer(name: string, afterMs = 1): void {
  const callback = running.get(name);
  if (!callback) throw new Error(`${name} is not being looked up`);
  running.delete(name);
  now += afterMs;
  callback();
}

function known(speed: 'quick' | 'slow', ...names: string[]): void {
  for (const name of names) {
    ask(name);
    answer(name, speed === 'quick' ? 5 : 9_000);
  }
  resolved = [];
}

describe('lookups of one name at once', () => {
  it('are one lookup, whose answer everybody gets', () => {
    ask('a', 'a', 'a');
    expect([...running.keys()]).toEqual(['a']);
    answer('a');
    expect(resolved).toEqual(['a', 'a', 'a']);
    ask('a');
    expect(running.size).toBe(1);
  });

  it('give each its own addresses to change', () => {
    const given: unknown[][] = [];
    for (let n = 0; n < 2; n += 1) lookup('a', { all: true }, (_, addresses) => given.push(addresses), n);
    answer('a');
    given[0]?.pop();
    expect(given[1]).toEqual(ADDRESSES);
  });
});

describe('names that are slow', () => {
  it('wait for one another, and a quick one finds a thread at once', () => {
    known('slow', 's1', 's2', 's3');
    known('quick', 'q');
    ask('s1', 's2', 's3');
    expect([...running.keys()]).toEqual(['s1']);
    ask('q');
    expect([...running.keys()]).toEqual(['s1', 'q']);
    answer('s1', 9_000);
    expect([...running.keys()]).toEqual(['q', 's2']);
  });

  it('are quick again once they were', () => {
    known('slow', 's');
    known('quick', 's');
    ask('n1', 'n2', 's');
    expect([...running.keys()]).toEqual(['n1', 'n2', 's']);
  });
});

it('names that were never looked up take no more than two threads, and all of them three', () => {
  known('quick', 'q1', 'q2');
  ask('n1', 'n2', 'n3', 'q1', 'q2');
  expect([...running.keys()]).toEqual(['n1', 'n2', 'q1']);
  answer('n1');
  expect([...running.keys()]).toEqual(['n2', 'q1', 'n3']);
});

it('an error is told to everybody who asked', () => {
  const failing = fairLookup((_, __, callback) => queueMicrotask(() => callback(new Error('ENOTFOUND'), [])));
  const asked = [1, 2].map((n) => new Promise((resolve) => failing('a', { all: true }, resolve, n)));
  return expect(Promise.all(asked)).resolves.toEqual([new Error('ENOTFOUND'), new Error('ENOTFOUND')]);
});

describe('names of one account that may be slow', () => {
  const [GREEDY, OTHER, THIRD] = [1_001, 1_002, 1_003];

  it('are looked up one at a time: a new name of another account finds a thread', () => {
    askOf(GREEDY, 'n1', 'n2', 'n3');
    expect([...running.keys()]).toEqual(['n1']);
    askOf(OTHER, 'new');
    expect([...running.keys()]).toEqual(['n1', 'new']);
    answer('new');
    expect([...running.keys()]).toEqual(['n1']);
    answer('n1', 9_000);
    expect([...running.keys()]).toEqual(['n2']);
  });

  it('take turns with those of other accounts, which asked later', () => {
    askOf(GREEDY, 'a1', 'a2', 'a3');
    askOf(OTHER, 'b1', 'b2', 'b3');
    askOf(THIRD, 'new');
    expect([...running.keys()]).toEqual(['a1', 'b1']);
    answer('a1', 9_000);
    expect([...running.keys()]).toEqual(['b1', 'new']);
    answer('b1', 9_000);
    expect([...running.keys()]).toEqual(['new', 'a2']);
  });

  it('do not hold up its names that were quick', () => {
    known('quick', 'q1', 'q2');
    askOf(GREEDY, 'n1', 'n2', 'q1', 'q2');
    expect([...running.keys()]).toEqual(['n1', 'q1', 'q2']);
  });
});

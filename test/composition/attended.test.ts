import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Attended, attend } from '../../src/composition/attended.js';
import { eventually } from '../support/eventually.js';

/** Runs until it is told to die. */
class Running {
  closes = 0;
  die: (error: Error) => void = () => undefined;
  readonly closed: Promise<void>;
  #end: () => void = () => undefined;

  constructor(readonly name: string) {
    this.closed = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.die = reject;
    });
    this.closed.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.closes += 1;
    this.#end();
  }
}

let told: string[];
let pauses: number[];
let begun: Running[];
let begin: () => Promise<Running>;
let attended: Attended<Running>;
let now: number;

beforeEach(() => {
  now = 0;
  told = [];
  pauses = [];
  begun = [];
  begin = async () => {
    const running = new Running(`number ${begun.length + 2}`);
    begun.push(running);
    return running;
  };
});
afterEach(() => attended.close());

function start(again: boolean): Running {
  const first = new Running('number 1');
  attended = attend(first, {
    begin: () => begin(),
    closed: (running) => running.closed,
    close: (running) => running.close(),
    lost: (error) => void told.push(`lost: ${(error as Error).message}`),
    found: () => void told.push('found'),
    again,
    now: () => now,
    pause: async (ms) => void pauses.push(ms),
  });
  return first;
}

test('what dies is closed, and begun again after a second, and after two where it died within a minute', async () => {
  const first = start(true);
  first.die(new Error('once'));
  await eventually(() => attended.current.name === 'number 2' && told.length === 2);
  expect(first.closes).toBe(1);
  begun[0]?.die(new Error('twice'));
  await eventually(() => attended.current.name === 'number 3' && told.length === 4);
  now += 60_000;
  begun[1]?.die(new Error('later'));
  await eventually(() => attended.current.name === 'number 4' && told.length === 6);
  expect(told).toEqual(['lost: once', 'found', 'lost: twice', 'found', 'lost: later', 'found']);
  expect(pauses).toEqual([1_000, 2_000, 1_000]);
});

test('what can not be begun is tried again, at longer and longer intervals, a minute at most', async () => {
  const succeeds = begin;
  begin = async () => {
    if (pauses.length < 9) throw new Error('still refused');
    return succeeds();
  };
  start(true).die(new Error('refused'));
  await eventually(() => told.includes('found'));
  expect(pauses.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(told).toEqual(['lost: refused', ...Array(8).fill('lost: still refused'), 'found']);
});

test('without another try its death is told to the one who waits', async () => {
  start(false).die(new Error('refused'));
  await expect(attended.closed).rejects.toThrow('refused');
  expect([begun.length, pauses, told]).toEqual([0, [], []]);
});

test('close ends it, whatever it is at: what was begun meanwhile is closed as well', async () => {
  let finish: () => void = () => undefined;
  const succeeds = begin;
  begin = async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return succeeds();
  };
  start(true).die(new Error('refused'));
  await eventually(() => pauses.length === 1);
  const closing = attended.close();
  finish();
  await closing;
  expect(begun.map(({ closes }) => closes)).toEqual([1]);
  expect(told).toEqual(['lost: refused']);
});

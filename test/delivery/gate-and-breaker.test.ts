import { beforeEach, describe, expect, test } from '@jest/globals';
import { CircuitBreakers, type EndpointSignal } from '../../src/delivery/isolation/circuit-breaker.js';
import { EndpointGate, type Entered, type Entry, type Refused } from '../../src/delivery/isolation/endpoint-gate.js';
import { eventually } from '../support/eventually.js';

const ACCOUNT = 42;
const MIB = 1024 * 1024;

let now: number;
/** What the gate goes on with after a pause. */
let later: (() => void)[];
let gate: EndpointGate;
beforeEach(() => {
  now = 1_000_000;
  later = [];
  gate = gateOf({ total: 256, perEndpoint: 2 });
});

function gateOf(limits: { total: number; perEndpoint: number; perAccount?: number }): EndpointGate {
  const clock = { now: () => now, random: () => 0 };
  const breakers = new CircuitBreakers(clock);
  return new EndpointGate({ ...limits, ...clock, breakers, later: (turn) => later.push(turn) });
}

async function entered(url = 'a'): Promise<Entered> {
  const entry = await gate.enter(ACCOUNT, url);
  if (entry.kind === 'entered') return entry;
  throw new Error(`refused: ${entry.why}`);
}

async function attempts(fared: EndpointSignal, times: number, url = 'a'): Promise<void> {
  for (let n = 0; n < times; n += 1) (await entered(url)).leave(fared);
}

/** Those who come at once, and what became of each by now. */
function visitors(count: number, url = 'a', bytes = 0) {
  const entries: Entry[] = [];
  for (let n = 0; n < count; n += 1) void gate.enter(ACCOUNT, url, bytes).then((entry) => entries.push(entry));
  const refused = () => entries.filter((entry): entry is Refused => entry.kind === 'refused');
  const inside = () => entries.filter((entry): entry is Entered => entry.kind === 'entered');
  return { refused, inside };
}

/** One of the gate's pauses is over. */
function pause(): void {
  for (const turn of later.splice(0)) turn();
}

function pauses(): void {
  while (later.length > 0) pause();
}

/** Until what has been resolved by now has been told. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('an endpoint that failed ten times in a row', () => {
  test('refuses whoever comes, with what is left of the pause; other endpoints and accounts do not', async () => {
    await attempts('failed', 10);
    now += 1_000;
    expect(await gate.enter(ACCOUNT, 'a')).toEqual({ kind: 'refused', why: 'open', forMs: 4_000 });
    expect((await gate.enter(ACCOUNT, 'b')).kind).toBe('entered');
    expect((await gate.enter(ACCOUNT + 1, 'a')).kind).toBe('entered');
  });

  test('refuses those in its line, and no other line', async () => {
    await attempts('failed', 9);
    const [first] = [await entered(), await entered()];
    const [waiting, others] = [visitors(1_000), visitors(5, 'b')];
    await settled();
    expect(waiting.refused()).toEqual([]);
    expect(first.leave('failed')).toBe('opened');
    pauses();
    await settled();
    expect(waiting.refused()).toHaveLength(1_000);
    expect(waiting.refused()[999]).toEqual({ kind: 'refused', why: 'open', forMs: 5_000 });
    expect(others.refused()).toEqual([]);
    for (const { leave } of others.inside()) leave();
    await settled();
    expect(others.inside()).toHaveLength(4);
  });

  test('refuses four of them at a time: to put a delivery off takes longer than to make it', async () => {
    await attempts('failed', 9);
    const [first] = [await entered(), await entered()];
    const waiting = visitors(10);
    first.leave('failed');
    for (const refused of [4, 8, 10]) {
      await settled();
      expect(waiting.refused()).toHaveLength(refused);
      expect(gate.state.waiting).toBe(10 - refused);
      pause();
    }
    expect(later).toEqual([]);
  });

  test.each([
    { length: 6, told: ['4 0 0', '6 2 0', '6 6 0', '6 6 4', '6 6 6'] },
    { length: 4, told: ['4 0 0', '4 4 0', '4 4 4'] },
    { length: 2, told: ['2 0 0', '2 2 2'] },
  ])(
    'shares the pace with others that fail at once, one after the other: lines of $length',
    async ({ length, told }) => {
      const lines: ReturnType<typeof visitors>[] = [];
      const firsts: Entered[] = [];
      for (const url of ['a', 'b', 'c']) {
        await attempts('failed', 9, url);
        firsts.push(await entered(url));
        await entered(url);
        lines.push(visitors(length, url));
      }
      for (const { leave } of firsts) leave('failed');
      for (const each of told) {
        await settled();
        expect(lines.map((line) => line.refused().length).join(' ')).toBe(each);
        pause();
      }
      pauses();
    },
  );

  test('refuses them by a timer where nothing else is given', async () => {
    const clock = { now: () => now, random: () => 0 };
    gate = new EndpointGate({ total: 4, perEndpoint: 2, ...clock, breakers: new CircuitBreakers(clock) });
    await attempts('failed', 9);
    const [first] = [await entered(), await entered()];
    const waiting = visitors(10);
    first.leave('failed');
    await eventually(() => waiting.refused().length === 10);
  });

  test('is free at once for who comes when it has recovered, whoever is still being refused', async () => {
    await attempts('failed', 9);
    const [first, slow] = [await entered(), await entered()];
    const before = visitors(100);
    first.leave('failed');
    expect(slow.leave('succeeded')).toBe('closed');
    expect((await gate.enter(ACCOUNT, 'a')).kind).toBe('entered');
    expect(gate.waiting).toBe(96);
    pauses();
    await settled();
    expect(before.refused()).toHaveLength(100);
    expect(gate.waiting).toBe(0);
  });

  test('refuses all that are left when the gate is closed', async () => {
    await attempts('failed', 9);
    const [first] = [await entered(), await entered()];
    const waiting = visitors(100);
    first.leave('failed');
    gate.close();
    await settled();
    expect(waiting.refused()).toHaveLength(100);
    expect(new Set(waiting.refused().map(({ why }) => why))).toEqual(new Set(['open']));
    expect(gate.state).toMatchObject({ waiting: 0, waitingBytes: 0 });
    pauses();
  });

  test('leaves its bytes and places to others only as those who had them are told', async () => {
    gate = gateOf({ total: 4, perEndpoint: 2 });
    await attempts('failed', 9);
    const [first] = [await entered(), await entered()];
    visitors(15, 'a', MIB);
    first.leave('failed');
    expect(gate.state).toMatchObject({ waiting: 11, waitingBytes: 11 * MIB });
    expect(gate.standing(1_000)).toEqual({ waiting: 11, waitingBytes: 11 * MIB });
    pauses();
    expect(gate.state).toMatchObject({ waiting: 0, waitingBytes: 0 });
    expect(gate.standing(1_000)).toEqual({ waiting: 0, waitingBytes: 0 });
  });

  test('gives the places that were free to others: the line that was refused holds none', async () => {
    gate = gateOf({ total: 2, perEndpoint: 2 });
    await attempts('failed', 9);
    const [first, second] = [await entered(), await entered()];
    visitors(100);
    const others = visitors(2, 'b');
    first.leave('failed');
    second.leave('failed');
    await settled();
    expect(others.inside()).toHaveLength(2);
  });

  test('lets one in when the pause is over, and all when that one succeeded', async () => {
    await attempts('failed', 10);
    now += 5_000;
    const come = visitors(5);
    await settled();
    expect(come.inside()).toHaveLength(1);
    expect(come.refused()).toHaveLength(4);
    expect(come.inside()[0]?.leave('succeeded')).toBe('closed');
    await attempts('failed', 9);
    expect((await gate.enter(ACCOUNT, 'a')).kind).toBe('entered');
  });

  test('lets another in where the one left without an attempt', async () => {
    await attempts('failed', 10);
    now += 5_000;
    (await entered()).leave();
    (await entered()).leave('failed');
    expect(await gate.enter(ACCOUNT, 'a')).toMatchObject({ why: 'open', forMs: 10_000 });
  });

  test('counts a place that was left twice once', async () => {
    await attempts('failed', 8);
    const { leave } = await entered();
    expect([leave('failed'), leave('failed'), leave('failed')]).toEqual([null, null, null]);
    expect((await gate.enter(ACCOUNT, 'a')).kind).toBe('entered');
  });
});

describe('a line that is full', () => {
  test('refuses with the time that its first has waited', async () => {
    await entered();
    await entered();
    visitors(1);
    now += 7_000;
    visitors(1_999);
    now += 1_000;
    expect(await gate.enter(ACCOUNT, 'a')).toEqual({ kind: 'refused', why: 'line-full', forMs: 8_000 });
  });

  test('may be so by the bytes it holds: 16 MiB, and it takes again when it holds less', async () => {
    const [first] = [await entered(), await entered()];
    const waiting = visitors(16, 'a', MIB);
    expect(await gate.enter(ACCOUNT, 'a', 1)).toMatchObject({ why: 'line-full' });
    first.leave();
    await settled();
    expect(waiting.inside()).toHaveLength(1);
    const next = visitors(2, 'a', MIB);
    await settled();
    expect(next.refused()).toHaveLength(1);
  });

  test('where all lines hold 32 MiB, is full at its share of them, and a new one takes something still', async () => {
    gate = gateOf({ total: 4, perEndpoint: 1 });
    for (const url of ['a', 'b', 'c', 'd']) visitors(10, url, MIB);
    await settled();
    const [over, new_] = [visitors(1, 'a', MIB), visitors(1, 'e', MIB)];
    await settled();
    expect(over.refused()).toHaveLength(1);
    expect(new_.refused()).toEqual([]);
  });
});

test('a gate that is closed refuses whatever the breaker says', async () => {
  await attempts('failed', 10);
  gate.close();
  expect(await gate.enter(ACCOUNT, 'a')).toEqual({ kind: 'refused', why: 'closed', forMs: 0 });
});

import { beforeEach, describe, expect, test } from '@jest/globals';
import { EndpointGate, type Entry } from '../../../src/delivery/isolation/endpoint-gate.js';

const LINE = 2_000;

/** 7 for 7/a; 1 for a key that names none. */
const accountOf = (key: string) => Number(/^(\d+)\//.exec(key)?.[1] ?? 1);

/** Asks for entry and records who got in, in which order. */
function visitors(gate: EndpointGate) {
  const entered: string[] = [];
  const refused: string[] = [];
  const leaves: (() => void)[] = [];
  const enter = async (key: string) => {
    const entry: Entry = await gate.enter(accountOf(key), key);
    if (entry.kind === 'refused') return void refused.push(key);
    entered.push(key);
    leaves.push(entry.leave);
  };
  const come = (key: string, times = 1) => {
    for (let n = 0; n < times; n += 1) void enter(key);
    return settled();
  };
  const leaveFirst = () => {
    leaves.shift()?.();
    return settled();
  };
  return { entered, refused, come, leaveFirst };
}

/** Until what has been resolved by now has been told. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('concurrency', () => {
  test('an endpoint has no more at a time than its own limit', async () => {
    const { entered, come, leaveFirst } = visitors(new EndpointGate({ total: 100, perEndpoint: 2 }));
    await come('a', 5);
    expect(entered).toHaveLength(2);
    await leaveFirst();
    expect(entered).toHaveLength(3);
  });

  test('all endpoints have no more at a time than the total', async () => {
    const { entered, come, leaveFirst } = visitors(new EndpointGate({ total: 3, perEndpoint: 2 }));
    await come('a', 2);
    await come('b', 2);
    await come('c', 2);
    expect(entered).toEqual(['a', 'a', 'b']);
    await leaveFirst();
    expect(entered).toHaveLength(4);
  });

  test('leaving twice gives one place, not two', async () => {
    const gate = new EndpointGate({ total: 1, perEndpoint: 1 });
    const first = await gate.enter(1, 'a');
    const { entered, come } = visitors(gate);
    await come('a', 3);
    if (first.kind === 'entered') first.leave();
    if (first.kind === 'entered') first.leave();
    await settled();
    expect(entered).toHaveLength(1);
  });

  test('an endpoint that everybody left begins anew', async () => {
    const { entered, come, leaveFirst } = visitors(new EndpointGate({ total: 1, perEndpoint: 1 }));
    for (let round = 1; round <= 3; round += 1) {
      await come('a');
      expect(entered).toHaveLength(round);
      await leaveFirst();
    }
  });
});

describe('the line', () => {
  test('endpoints take turns: one with a long line does not keep the others waiting', async () => {
    const { entered, come, leaveFirst } = visitors(new EndpointGate({ total: 1, perEndpoint: 1 }));
    await come('a', 10);
    await come('b', 2);
    await come('c', 1);
    for (let n = 0; n < 5; n += 1) await leaveFirst();
    expect(entered.slice(1).sort()).toEqual(['a', 'a', 'b', 'b', 'c']);
    expect(entered.slice(1, 4).sort()).toEqual(['a', 'b', 'c']);
  });

  test('an endpoint that hangs holds its own places and no other', async () => {
    const gate = new EndpointGate({ total: 3, perEndpoint: 2 });
    const { entered, come } = visitors(gate);
    await come('hangs', 100);
    expect(entered).toEqual(['hangs', 'hangs']);
    for (let n = 0; n < 50; n += 1) {
      const entry = await gate.enter(1, 'healthy');
      expect(entry.kind).toBe('entered');
      if (entry.kind === 'entered') entry.leave();
    }
    expect(entered).toEqual(['hangs', 'hangs']);
  });

  test('1,000 at once to one endpoint are never refused, and all get their turn in the end', async () => {
    const { entered, refused, come, leaveFirst } = visitors(new EndpointGate({ total: 256, perEndpoint: 16 }));
    await come('a', 1_000);
    expect(refused).toEqual([]);
    expect(entered).toHaveLength(16);
    for (let n = 0; n < 1_000; n += 1) await leaveFirst();
    expect(entered).toHaveLength(1_000);
  });

  test('a full line refuses at once, and takes again when it has room', async () => {
    const { entered, refused, come, leaveFirst } = visitors(new EndpointGate({ total: 1, perEndpoint: 1 }));
    await come('a', 1 + LINE);
    expect(refused).toEqual([]);
    await come('a');
    expect(refused).toEqual(['a']);
    await come('b');
    expect(refused).toEqual(['a']);
    // The free place goes to b or a in turn; after two, a's line is shorter by at least one.
    await leaveFirst();
    await leaveFirst();
    await come('a');
    expect(refused).toEqual(['a']);
    expect(entered).toHaveLength(3);
  });
});

describe('many slow endpoints', () => {
  test('of one account take no more than its part, and leave turns to the others', async () => {
    const limits = { total: 16, perEndpoint: 2, perAccount: 4 };
    const { entered, come, leaveFirst } = visitors(new EndpointGate(limits));
    for (let n = 0; n < 21; n += 1) await come(`1/${n}`, 3);
    expect(entered).toHaveLength(4);
    await come('2/healthy', 2);
    expect(entered.slice(4)).toEqual(['2/healthy', '2/healthy']);
    await leaveFirst();
    expect(entered).toHaveLength(7);
    expect(entered[6]).toMatch(/^1\//);
  });

  test.each([1, 2, 4, 12])('of %i accounts leave places to one that comes', async (accounts) => {
    const { entered, come } = visitors(new EndpointGate({ total: 256, perEndpoint: 16, perAccount: 64 }));
    for (let id = 2; id < accounts + 2; id += 1) for (let n = 0; n < 4; n += 1) await come(`${id}/${n}`, 20);
    const before = entered.length;
    expect(before).toBeGreaterThanOrEqual(Math.min(accounts * 64, 100));
    await come('1/healthy', 4);
    expect(entered.slice(before)).toEqual(Array(4).fill('1/healthy'));
  });

  test('do not fill all lines: each is refused at its share, and another still takes a burst', async () => {
    const { refused, come } = visitors(new EndpointGate({ total: 256, perEndpoint: 16, perAccount: 64 }));
    const hanging = Array.from({ length: 7 }, (_, n) => `1/${n}`);
    for (let round = 0; round < 40; round += 1) for (const key of hanging) await come(key, 50);
    expect(refused.length).toBeGreaterThan(5_000);
    const before = refused.length;
    await come('2/healthy', 900);
    expect(refused).toHaveLength(before);
  });
});

describe('who waits for an endpoint that stands', () => {
  const MINUTE = 60_000;
  let now: number;
  let gate: EndpointGate;
  const standing = () => gate.standing(MINUTE).waiting;

  beforeEach(() => {
    now = 1_000_000;
    gate = new EndpointGate({ total: 3, perEndpoint: 1, now: () => now });
  });

  async function entered(key: string) {
    const entry = await gate.enter(1, key);
    if (entry.kind === 'entered') return entry;
    throw new Error(`refused: ${entry.why}`);
  }

  test('is told from who waits for one that has ended an attempt since', async () => {
    const { leave } = await entered('a');
    await entered('b');
    const { come } = visitors(gate);
    await Promise.all([come('a', 5), come('b', 7)]);
    now += MINUTE - 1;
    expect(standing()).toBe(0);
    leave('succeeded');
    now += 1;
    expect(standing()).toBe(7);
    now += MINUTE;
    expect(standing()).toBe(4 + 7);
  });

  test('is told from who has come a moment ago: one slow attempt makes no line stand', async () => {
    await entered('a');
    now += MINUTE;
    const { come } = visitors(gate);
    await come('a', 1_000);
    expect(standing()).toBe(0);
    now += MINUTE - 1;
    expect(standing()).toBe(0);
    now += 1;
    expect(standing()).toBe(1_000);
  });

  test('does not where its turn has only just come, however long that took', async () => {
    const firsts = [await entered('a'), await entered('b'), await entered('c')];
    await visitors(gate).come('d', 5);
    now += MINUTE;
    firsts[0]?.leave('succeeded');
    expect(standing()).toBe(0);
    now += MINUTE;
    expect(standing()).toBe(4);
  });

  test('waits for it still when attempts have failed, or the next have begun', async () => {
    const { leave } = await entered('a');
    await visitors(gate).come('a', 5);
    now += MINUTE;
    leave('failed');
    expect(standing()).toBe(4);
  });

  test('does not where none is under way: it has not had its turn', async () => {
    for (const key of ['a', 'b', 'c']) await entered(key);
    await visitors(gate).come('d', 5);
    now += MINUTE;
    expect(standing()).toBe(0);
  });

  test('counts with its bytes', async () => {
    await entered('a');
    void gate.enter(1, 'a', 300);
    void gate.enter(1, 'a', 500);
    now += MINUTE;
    expect(gate.standing(MINUTE)).toEqual({ waiting: 2, waitingBytes: 800 });
    gate.close();
    expect(gate.standing(MINUTE)).toEqual({ waiting: 0, waitingBytes: 0 });
  });
});

describe('close', () => {
  test('refuses those who wait and those who come; those inside leave as ever', async () => {
    const gate = new EndpointGate({ total: 1, perEndpoint: 1 });
    const { entered, refused, come, leaveFirst } = visitors(gate);
    await come('a', 3);
    await come('b', 1);
    gate.close();
    await settled();
    expect(refused.sort()).toEqual(['a', 'a', 'b']);
    await come('c');
    expect(refused).toContain('c');
    await leaveFirst();
    expect(entered).toEqual(['a']);
  });
});

import type { GateParts } from '../../../src/delivery/isolation/endpoint-gate.js';
import { GateScene, type GateVisitors, settled } from '../../support/gate-visitors.js';

const SECOND = 1_000;

let scene: GateScene;
let visitors: GateVisitors;

function open(parts: Partial<GateParts> = {}): void {
  scene = new GateScene(parts);
  visitors = scene.visitors;
}
beforeEach(() => open());

describe('the window of an endpoint', () => {
  test('is one at first, and one more with each 2xx, up to the limit', async () => {
    open({ perEndpoint: 4 });
    await visitors.come('a', 100);
    const windows = [visitors.inside.length];
    for (let n = 0; n < 5; n += 1) {
      await visitors.leave();
      windows.push(visitors.inside.length);
    }
    expect(windows).toEqual([1, 2, 3, 4, 4, 4]);
  });

  test('is half as large after a failure', async () => {
    await visitors.attempts('a', 'succeeded', 20);
    await visitors.attempts('a', 'failed', 2);
    await visitors.come('a', 100);
    expect(visitors.inside).toHaveLength(4);
  });

  test('stays after an attempt that says nothing of the endpoint', async () => {
    await visitors.attempts('a', 'succeeded', 3);
    await visitors.attempts('a', 'unknown', 3);
    await visitors.come('a', 100);
    expect(visitors.inside).toHaveLength(4);
  });

  test('is still known where nobody was there for a while', async () => {
    await visitors.attempts('a', 'succeeded', 2);
    await visitors.attempts('b', 'succeeded', 1);
    await scene.goOn(60 * SECOND);
    await visitors.come('a', 100);
    expect(visitors.inside).toHaveLength(3);
  });

  test('of a quick endpoint is known however many that are not came meanwhile', async () => {
    await visitors.attempts('1/well', 'succeeded', 2);
    for (let id = 2; id < 12_000; id += 1) {
      const entry = scene.gate.enter(id, 'https://shop.example.com/fails');
      await scene.clock.goOn(SECOND);
      const one = await entry;
      if (one.kind === 'refused') throw new Error(one.why);
      one.ended('failed');
      one.leave();
    }
    await visitors.come('1/well', 100);
    expect(visitors.inside).toHaveLength(3);
  });

  test('counts attempts that are older than a second', async () => {
    await visitors.attempts('a', 'succeeded', 1);
    await visitors.come('a', 100);
    await scene.goOn(3 * SECOND);
    expect(visitors.enteredOf('a')).toBe(1 + 2);
  });

  test('of one that failed starts no second attempt beside one that is older than a second', async () => {
    await visitors.attempts('a', 'succeeded', 20);
    await visitors.attempts('a', 'failed', 1);
    await visitors.come('a');
    await scene.goOn(SECOND);
    await visitors.come('a');
    expect(visitors.enteredOf('a')).toBe(20 + 1 + 1);
    await visitors.leave('succeeded');
    expect(visitors.inside).toHaveLength(1);
  });
});

describe('places', () => {
  test('all endpoints have no more at a time than the total', async () => {
    open({ total: 3 });
    for (const key of ['1/a', '2/b', '3/c', '4/d']) await visitors.attempts(key, 'succeeded', 4);
    for (const key of ['1/a', '2/b', '3/c', '4/d']) await visitors.come(key, 4);
    expect(visitors.inside).toHaveLength(3);
    await visitors.leave();
    expect(visitors.inside).toHaveLength(3);
  });

  test('an attempt holds its place for a second: then another may begin, and it goes on', async () => {
    open({ total: 1 });
    await visitors.come('1/hangs');
    await visitors.come('2/well');
    expect(visitors.entered).toEqual(['1/hangs']);
    await scene.goOn(999);
    expect(visitors.entered).toHaveLength(1);
    await scene.goOn(1);
    expect(visitors.entered).toEqual(['1/hangs', '2/well']);
    expect(scene.gate.state.active).toBe(2);
    await visitors.leave('succeeded', '1/hangs');
    expect(scene.gate.state.active).toBe(1);
  });

  test('but one that has ended keeps it until what follows from it is durable', async () => {
    open({ total: 1 });
    await visitors.come('1/a');
    await visitors.come('2/b');
    visitors.inside[0]?.ended('succeeded');
    await scene.goOn(4 * SECOND);
    expect(visitors.entered).toEqual(['1/a']);
    visitors.inside[0]?.leave();
    await settled();
    expect(visitors.entered).toEqual(['1/a', '2/b']);
  });

  test('and one that was answered by 410 for its first second only: the command that follows waits for its account', async () => {
    open({ total: 2 });
    for (const key of ['7/a', '7/b', '8/a']) await visitors.attempts(key, 'succeeded', 1);
    for (const key of ['7/a', '7/b']) await visitors.come(key);
    for (const one of visitors.inside) one.ended('unknown');
    await visitors.come('8/a');
    expect(visitors.enteredOf('8/a')).toBe(1);
    await scene.goOn(SECOND);
    expect(visitors.enteredOf('8/a')).toBe(2);
    for (const key of ['7/a', '7/b']) await visitors.leave('unknown', key);
    await visitors.come('8/b');
    expect(scene.gate.state).toMatchObject({ active: 2, waiting: 0 });
  });

  test('a failure of an unproven endpoint costs its place for a second, however soon it came', async () => {
    open({ total: 2 });
    await visitors.come('1/a');
    await visitors.come('2/b');
    await visitors.leave('failed', '1/a');
    expect(visitors.entered).toEqual(['1/a']);
    expect(scene.gate.state.active).toBe(0);
    await scene.goOn(SECOND);
    expect(visitors.entered).toEqual(['1/a', '2/b']);
    await visitors.leave('succeeded');
    await visitors.come('3/c');
    expect(visitors.entered).toHaveLength(3);
  });

  test('leaving twice gives one place, not two', async () => {
    open({ total: 1 });
    await visitors.come('1/a');
    const first = visitors.inside[0];
    for (const key of ['2/a', '3/a', '4/a']) await visitors.come(key);
    for (const act of [first?.leave, first?.leave, () => first?.ended('failed'), first?.leave]) act?.();
    await settled();
    expect(visitors.entered).toEqual(['1/a', '2/a']);
    expect(scene.gate.state.active).toBe(1);
  });

  test('half of them are for proven endpoints, however many others there are', async () => {
    open({ total: 16 });
    for (const key of ['1/well', '51/well', '52/well']) await visitors.attempts(key, 'succeeded', 10);
    for (let id = 2; id < 40; id += 1) await visitors.come(`${id}/new`);
    expect(visitors.inside).toHaveLength(8);
    await visitors.come('1/well', 8);
    for (const key of ['51/well', '52/well']) await visitors.come(key);
    expect(visitors.inside).toHaveLength(16);
  });

  test('swift endpoints that all hang leave an eighth to accounts that have few attempts under way', async () => {
    open({ total: 16 });
    for (const key of ['1/well', '2/a', '2/b']) await visitors.attempts(key, 'succeeded', 16);
    for (const key of ['2/a', '2/b']) await visitors.come(key, 16);
    expect(visitors.inside).toHaveLength(14);
    await visitors.come('1/well', 4);
    expect(visitors.enteredOf('1/well')).toBe(16 + 2);
  });

  test('of the other half, an eighth of all is for those that have not failed', async () => {
    open({ total: 16 });
    for (let id = 2; id < 40; id += 1) {
      await visitors.attempts(`${id}/fails`, 'failed', 1);
      await scene.goOn(SECOND);
    }
    for (let id = 2; id < 40; id += 1) await visitors.come(`${id}/fails`);
    expect(visitors.inside).toHaveLength(6);
    await visitors.come('1/new');
    expect(visitors.entered.at(-1)).toBe('1/new');
  });

  test('endpoints that answer just in time leave places to those that answer at once', async () => {
    open({ total: 16 });
    for (let id = 2; id < 10; id += 1) {
      for (let n = 0; n < 16; n += 1) {
        await visitors.come(`${id}/late`);
        await scene.goOn(900);
        await visitors.leave('succeeded', `${id}/late`);
      }
    }
    for (const key of ['1/well', '10/well']) await visitors.attempts(key, 'succeeded', 1);
    for (let id = 2; id < 10; id += 1) await visitors.come(`${id}/late`, 16);
    expect(visitors.inside).toHaveLength(14);
    for (const key of ['1/well', '10/well']) await visitors.come(key);
    expect(visitors.inside).toHaveLength(16);
  });
});

describe('an account with eight attempts that are older than a second', () => {
  beforeEach(async () => {
    for (let n = 0; n < 9; n += 1) await visitors.attempts(`7/${n}`, n < 8 ? 'failed' : 'succeeded', 1);
    await visitors.attempts('7/fails', 'failed', 1);
    for (let n = 0; n < 8; n += 1) await visitors.come(`7/${n}`);
    await scene.goOn(SECOND);
  });

  test('begins none to another that failed, until one of them has ended', async () => {
    await visitors.come('7/fails');
    expect(visitors.enteredOf('7/fails')).toBe(1);
    await visitors.leave('failed', '7/3');
    expect(visitors.enteredOf('7/fails')).toBe(2);
  });

  test('begins some to a new one, and to one that is proven; another account is free', async () => {
    await visitors.come('7/new');
    await visitors.come('7/8');
    await visitors.attempts('8/fails', 'failed', 2);
    expect(visitors.entered.slice(-4)).toEqual(['7/new', '7/8', '8/fails', '8/fails']);
  });

  test('parks what waits for long meanwhile', async () => {
    await visitors.come('7/fails');
    await scene.goOn(5 * SECOND);
    expect(visitors.refused).toMatchObject([{ key: '7/fails', why: 'line-full', isTaking: false }]);
    expect(scene.gate.state).toMatchObject({ active: 8, waiting: 0, waitingBytes: 0 });
  });
});

describe('whose turn it is', () => {
  test('endpoints of an account take turns', async () => {
    open({ total: 1, perEndpoint: 1 });
    for (const [key, times] of [
      ['a', 10],
      ['b', 2],
      ['c', 1],
    ] as const)
      await visitors.come(key, times);
    for (let n = 0; n < 5; n += 1) await visitors.leave();
    expect(visitors.entered).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  test('an account that has few attempts under way comes before one that has many', async () => {
    open({ total: 8 });
    for (let n = 0; n < 9; n += 1) await visitors.attempts(`7/${n}`, 'succeeded', 1);
    await visitors.attempts('8/a', 'succeeded', 1);
    for (let n = 0; n < 9; n += 1) await visitors.come(`7/${n}`, 3);
    const before = visitors.entered.length;
    await visitors.come('8/a', 2);
    await visitors.leave();
    await visitors.leave();
    expect(visitors.entered.slice(before)).toEqual(['8/a', '8/a']);
  });
});

describe('close', () => {
  test('refuses those who wait and those who come, and stops its clock; those inside leave as ever', async () => {
    open({ total: 1 });
    await visitors.come('1/a', 3);
    await visitors.come('2/b');
    scene.gate.close();
    await visitors.come('3/c');
    expect(visitors.why()).toEqual(['closed', 'closed', 'closed', 'closed']);
    expect(scene.clock.isClosed).toBe(true);
    await visitors.leave();
    expect(visitors.entered).toEqual(['1/a']);
    expect(scene.gate.state.active).toBe(0);
  });

  test('is why, whatever the breaker says', async () => {
    await visitors.attempts('a', 'failed', 10);
    scene.gate.close();
    await visitors.come('a');
    expect(visitors.why()).toEqual(['closed']);
  });
});

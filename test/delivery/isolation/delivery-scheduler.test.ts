import type { SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { SchedulerScene, settled } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const HOLD_MS = 50;

let scene: SchedulerScene;
function open(parts: Partial<SchedulerParts> = {}): void {
  scene = new SchedulerScene(parts);
}
beforeEach(() => open());

describe('the window of an endpoint', () => {
  test('is one at first, and one more with each 2xx, up to the limit', async () => {
    open({ perEndpoint: 4 });
    await scene.come('a', 100);
    const windows = [scene.inFlight.length];
    for (let n = 0; n < 5; n += 1) {
      await scene.end();
      windows.push(scene.inFlight.length);
    }
    expect(windows).toEqual([1, 2, 3, 4, 4, 4]);
  });

  test('is half as large after a failure', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.attempts('a', 'failed', 2);
    await scene.come('a', 100);
    expect(scene.inFlight).toHaveLength(4);
  });

  test('stays after an attempt that says nothing of the endpoint', async () => {
    await scene.attempts('a', 'succeeded', 3);
    await scene.attempts('a', 'unknown', 3);
    await scene.come('a', 100);
    expect(scene.inFlight).toHaveLength(4);
  });

  test('holds also where it became smaller while a delivery waited for a slot', async () => {
    open({ slots: 2 });
    await scene.attempts('a', 'succeeded', 3);
    await scene.come('a', 6);
    for (const one of scene.inFlight.slice()) one.ended({ signal: 'failed' });
    await settled();
    expect(scene.scheduler.state.active).toBe(1);
  });

  test('is still known where nothing came for a while', async () => {
    await scene.attempts('a', 'succeeded', 2);
    await scene.attempts('b', 'succeeded', 1);
    await scene.goOn(60 * SECOND);
    await scene.come('a', 100);
    expect(scene.inFlight).toHaveLength(3);
  });

  test('of a proven endpoint is known however many came meanwhile that are not', async () => {
    await scene.attempts('1/well', 'succeeded', 2);
    for (let id = 2; id < 12_000; id += 1) {
      const acquisition = scene.scheduler.acquire(id, 'https://shop.example.com/fails');
      await scene.clock.goOn(SECOND);
      const one = await acquisition;
      if (one.kind === 'deferred') throw new Error(one.why);
      one.ended({ signal: 'failed' });
      one.leave();
    }
    await scene.come('1/well', 100);
    expect(scene.inFlight).toHaveLength(3);
  });

  test('counts slow attempts', async () => {
    await scene.attempts('a', 'succeeded', 1);
    await scene.come('a', 100);
    await scene.goOn(3 * SECOND);
    expect(scene.beganOf('a')).toBe(1 + 2);
  });

  test('has room once an attempt has ended, unless 64 results are not durable yet', async () => {
    await scene.attempts('a', 'succeeded', 1);
    await scene.come('a', 100);
    for (let n = 0; n < 64; n += 1) {
      expect(scene.scheduler.state.active).toBeGreaterThan(0);
      scene.inFlight[n]?.ended({ signal: 'succeeded' });
      await settled();
    }
    const began = scene.beganOf('a');
    while (scene.scheduler.state.active > 0) {
      scene.inFlight.at(-scene.scheduler.state.active)?.ended({ signal: 'succeeded' });
      await settled();
    }
    expect(scene.beganOf('a')).toBe(began);
    for (let n = 0; n < 20; n += 1) scene.inFlight[n]?.leave();
    await settled();
    expect(scene.beganOf('a')).toBeGreaterThan(began);
  });
});

describe('a slot', () => {
  beforeEach(async () => {
    open({ slots: 1 });
    for (const key of ['1/a', '2/b', '3/c']) await scene.attempts(key, 'succeeded');
    scene.began.length = 0;
    for (const key of ['1/a', '2/b', '3/c']) await scene.come(key);
    expect(scene.began).toEqual(['1/a']);
  });

  test('is held for 50 ms: from then on the attempt is slow, and in flight still', async () => {
    await scene.goOn(HOLD_MS - 1);
    expect(scene.began).toEqual(['1/a']);
    await scene.goOn(1);
    expect(scene.began).toEqual(['1/a', '2/b']);
    expect(scene.scheduler.state.active).toBe(2);
    await scene.end('succeeded', '1/a');
    expect(scene.scheduler.state.active).toBe(1);
    expect(scene.began).toHaveLength(2);
  });

  test.each(['succeeded', 'failed', 'refused', 'unknown'] as const)(
    'is free once its attempt ended: %s',
    async (signal) => {
      scene.inFlight[0]?.ended({ signal });
      await settled();
      expect(scene.began).toEqual(['1/a', '2/b']);
      expect(scene.scheduler.state.active).toBe(1);
    },
  );

  test('is given back once, however often its attempt ends and leaves', async () => {
    await scene.goOn(10);
    const [first] = scene.inFlight;
    const end = () => void first?.ended({ signal: 'succeeded' });
    for (const act of [end, end, first?.leave, first?.leave, end, first?.leave]) act?.();
    await scene.goOn(HOLD_MS - 1);
    expect(scene.began).toEqual(['1/a', '2/b']);
    expect(scene.scheduler.state.active).toBe(1);
  });
});

describe('of the pools of slots', () => {
  const ids = Array.from({ length: 40 }, (_, n) => 100 + n);
  const proven = async () => {
    for (const id of ids) await scene.attempts(`${id}/proven`, 'succeeded');
    scene.began.length = 0;
  };
  const all = async (url: string) => {
    for (const id of ids) await scene.come(`${id}/${url}`);
  };

  test('one is for proven endpoints, one for those never tried, and one with a sixteenth as many for failing ones', async () => {
    open({ slots: 16 });
    await proven();
    for (const id of ids) await scene.attempts(`${id}/failing`, 'failed');
    scene.began.length = 0;
    await all('failing');
    expect(scene.inFlight).toHaveLength(1);
    await all('proven');
    expect(scene.inFlight).toHaveLength(1 + 16);
    await all('new');
    // Of the thread, they have a part that the others leave them.
    expect(scene.inFlight).toHaveLength(1 + 16 + 12);
  });

  test('one is for newcomers, however many deliveries to proven ones are queued', async () => {
    open({ slots: 4 });
    await proven();
    await all('proven');
    expect(scene.inFlight).toHaveLength(4);
    await scene.come('7/new');
    expect(scene.began.at(-1)).toBe('7/new');
  });

  test('the main one is asked first', async () => {
    open({ slots: 1 });
    await scene.come('1/a', 2);
    await scene.come('2/b');
    await scene.end('succeeded', '1/a');
    expect(scene.began).toEqual(['1/a', '1/a', '2/b']);
  });

  test('a first attempt that fails keeps its slot for 50 ms, however soon it failed', async () => {
    open({ slots: 1 });
    await scene.come('1/a');
    await scene.come('2/b');
    await scene.goOn(10);
    await scene.end('failed', '1/a');
    expect(scene.scheduler.state.active).toBe(0);
    await scene.goOn(HOLD_MS - 11);
    expect(scene.began).toEqual(['1/a']);
    await scene.goOn(1);
    expect(scene.began).toEqual(['1/a', '2/b']);
  });

  test('a first attempt that succeeds frees its slot immediately', async () => {
    open({ slots: 1 });
    for (const key of ['1/a', '2/b', '3/c']) await scene.come(key);
    for (const one of scene.inFlight) one.ended({ signal: 'succeeded' });
    await settled();
    expect(scene.began).toEqual(['1/a', '2/b']);
  });

  test('an endpoint that fails too often moves to the small one, and with a 2xx back to the main one', async () => {
    open({ slots: 1 });
    for (const key of ['1/a', '2/b']) {
      await scene.attempts(key, 'succeeded');
      await scene.attempts(key, 'failed');
    }
    await scene.come('1/a');
    await scene.come('2/b', 3);
    expect(scene.inFlight).toHaveLength(1);
    await scene.end('succeeded', '1/a');
    await scene.end('succeeded', '2/b');
    expect(scene.inFlightOf('2/b')).toBe(1);
    await scene.come('1/a');
    expect(scene.inFlightOf('1/a')).toBe(0);
  });

  test('with one attempt at a time to an endpoint, too, those that take deliveries have the main one', async () => {
    open({ slots: 16, perEndpoint: 1 });
    for (const key of ['1/a', '2/b']) await scene.attempts(key, 'succeeded');
    for (const key of ['1/a', '2/b']) await scene.come(key, 2);
    expect(scene.inFlight).toHaveLength(2);
  });
});

describe('the next slot', () => {
  const proven = async (...keys: readonly string[]) => {
    for (const key of keys) await scene.attempts(key, 'succeeded');
    scene.began.length = 0;
  };

  test('goes to the endpoints of an account in turn', async () => {
    open({ slots: 1 });
    await proven('9/first', 'a', 'b', 'c');
    await scene.come('9/first');
    for (const [key, times] of Object.entries({ a: 10, b: 2, c: 1 })) await scene.come(key, times);
    for (let n = 0; n < 6; n += 1) await scene.end();
    expect(scene.began.slice(1)).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  test('goes to accounts in turn where they have as few in flight', async () => {
    open({ slots: 1 });
    const keys = ['1/a', '1/b', '2/a', '3/a'];
    await proven('9/first', ...keys);
    await scene.come('9/first');
    for (const key of keys) await scene.come(key, 2);
    for (let n = 0; n < 8; n += 1) await scene.end();
    expect(scene.began.slice(1)).toEqual(['1/a', '2/a', '3/a', '1/b', '2/a', '3/a', '1/a', '1/b']);
  });

  test('goes to the account with the fewest attempts in flight', async () => {
    open({ slots: 8 });
    const many = Array.from({ length: 9 }, (_, n) => `7/${n}`);
    await proven(...many, '8/a');
    for (const key of many) await scene.come(key, 3);
    scene.began.length = 0;
    await scene.come('8/a', 2);
    for (let n = 0; n < 2; n += 1) await scene.end('succeeded', scene.inFlight.find(({ key }) => key !== '8/a')?.key);
    expect(scene.began).toEqual(['8/a', '8/a']);
  });

  test('goes to the account that waits the longest, though one of its endpoints came and went meanwhile', async () => {
    open({ slots: 1, perEndpoint: 1 });
    await proven('1/a', '2/a', '2/b', '3/a');
    await scene.come('2/b');
    await scene.goOn(HOLD_MS);
    for (const key of ['1/a', '2/a', '3/a', '2/b']) await scene.come(key);
    await scene.end('succeeded', '2/b');
    await scene.end('succeeded', '1/a');
    expect(scene.began).toEqual(['2/b', '1/a', '2/a']);
  });
});

describe('close', () => {
  test('defers what is queued and what comes, and stops its clock; what is in flight leaves as ever', async () => {
    open({ slots: 1 });
    await scene.come('1/a', 3);
    await scene.come('2/b');
    scene.scheduler.close();
    await scene.come('3/c');
    expect(scene.why()).toEqual(['stopping', 'stopping', 'stopping', 'stopping']);
    expect(scene.clock.isClosed).toBe(true);
    await scene.end();
    expect(scene.began).toEqual(['1/a']);
    expect(scene.scheduler.state).toMatchObject({ active: 0, waiting: 0, waitingBytes: 0 });
  });

  test('is why, whatever the breaker says', async () => {
    await scene.attempts('a', 'failed', 10);
    scene.scheduler.close();
    await scene.come('a');
    expect(scene.why()).toEqual(['stopping']);
  });

  test('defers what is queued at a paused endpoint, and nothing begins when the pause is over', async () => {
    await scene.attempts('a', { signal: 'refused', retryAfterMs: 10 * SECOND });
    await scene.come('a');
    scene.scheduler.close();
    await scene.goOn(60 * SECOND);
    expect(scene.deferred).toMatchObject([{ why: 'stopping', pausedMs: 0 }]);
    expect(scene.inFlight).toEqual([]);
  });
});

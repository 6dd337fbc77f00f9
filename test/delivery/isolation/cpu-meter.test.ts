/** What attempts cost the process's thread, and what that changes for whom they are made. */
import { CpuCost, CpuMeter, CpuUse } from '../../../src/delivery/isolation/cpu-meter.js';
import type { SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const HOLD_MS = 50;

describe('the meter', () => {
  let busyMs: number;
  let meter: CpuMeter;
  beforeEach(() => {
    busyMs = 1_000;
    meter = new CpuMeter(() => busyMs);
  });

  test('charges an account with what the thread did since it charged another', () => {
    const [one, other] = [new CpuUse(), new CpuUse()];
    busyMs += 5 + 4;
    meter.charge(one);
    busyMs += 20 + 4;
    meter.charge(other);
    busyMs += 1 + 4;
    meter.charge(one);
    expect([one.sinceLastMs, other.sinceLastMs]).toEqual([6, 20]);
  });

  test('charges nothing of the 4 ms that other work takes', () => {
    const one = new CpuUse();
    busyMs += 4;
    meter.charge(one);
    expect(one.sinceLastMs).toBe(0);
  });

  test('charges nobody with what was for none', () => {
    const one = new CpuUse();
    busyMs += 50;
    meter.charge(null);
    busyMs += 1 + 4;
    meter.charge(one);
    expect(one.sinceLastMs).toBe(1);
  });

  test('guesses what the first attempt of an endpoint costs by what those of others did', () => {
    expect(meter.expected(new CpuCost())).toBe(0);
    for (let n = 0; n < 100; n += 1) {
      busyMs += 8 + 4;
      meter.ended(new CpuUse(), new CpuCost(), 0);
    }
    expect(meter.expected(new CpuCost())).toBeCloseTo(8);
    const known = new CpuCost();
    for (let n = 0; n < 100; n += 1) meter.ended(new CpuUse(), known, 0);
    expect(meter.expected(new CpuCost())).toBeGreaterThan(6);
  });

  test('and the next one by those before, of which the last has the greatest weight', () => {
    const [use, cost] = [new CpuUse(), new CpuCost()];
    for (const ms of [1, 1, 1, 9]) {
      busyMs += ms + 4;
      meter.ended(use, cost, 0);
    }
    expect(meter.expected(cost)).toBeGreaterThan(3);
    expect(meter.expected(cost)).toBeLessThan(5);
  });

  test('an account counts for an attempt more for each share of 0.5 ms that its attempts took beyond theirs: half is forgotten in a second', () => {
    const use = new CpuUse();
    const ended = (tookMs: number, now: number) => {
      use.sinceLastMs = tookMs;
      use.ended(now);
      return use.extra(now);
    };
    expect(ended(0.2, 0)).toBe(0);
    expect(ended(20.5, 0)).toBe(40);
    expect(use.extra(2 * SECOND)).toBe(10);
    expect(ended(1.5, 2 * SECOND)).toBe(12);
    expect(use.extra(20 * SECOND)).toBeLessThan(0.02);
  });
});

describe('in the scheduler', () => {
  let scene: SchedulerScene;
  function open(parts: Partial<SchedulerParts> = {}): void {
    scene = new SchedulerScene(parts);
  }
  beforeEach(() => open());

  /** Attempts that succeed, for each of which the thread works so long. */
  const cost = async (key: string, ms: number, times = 1) => {
    for (let n = 0; n < times; n += 1) {
      await scene.come(key);
      scene.work(ms + 4);
      await scene.end('succeeded', key);
    }
  };

  const many = (count: number, url: string) => Array.from({ length: count }, (_, n) => `${100 + n}/${url}`);

  test('dear attempts hold slots for 30 ms of the thread together', async () => {
    const keys = many(10, 'dear');
    for (const key of keys) await cost(key, 20);
    for (const key of keys) await scene.come(key);
    expect(scene.inFlight).toHaveLength(2);
    await scene.end('succeeded');
    expect(scene.inFlight).toHaveLength(2);
    await scene.goOn(HOLD_MS);
    expect(scene.inFlight).toHaveLength(4);
  });

  test('one that costs more than that begins alone', async () => {
    for (const key of ['1/a', '2/b']) await cost(key, 100);
    for (const key of ['1/a', '2/b']) await scene.come(key);
    expect(scene.began.slice(2)).toEqual(['1/a']);
    await scene.end('succeeded');
    expect(scene.began.slice(2)).toEqual(['1/a', '2/b']);
  });

  test('on probation they do for 10 ms: as many as others have cost before anything is known of them', async () => {
    for (const key of many(40, 'new')) await scene.come(key);
    expect(scene.inFlight).toHaveLength(16);
    open();
    for (let n = 0; n < 30; n += 1) await cost(`${n}/other`, 4);
    for (const key of many(40, 'new')) await scene.come(key);
    expect(scene.inFlight).toHaveLength(3);
    open();
    await cost('1/other', 0.1);
    for (const key of many(40, 'new')) await scene.come(key);
    expect(scene.inFlight).toHaveLength(16);
  });

  test('a handshake is charged to its account, not to the one whose attempt ends next', async () => {
    const cheap = ['2/cheap', '3/cheap'];
    for (const key of ['1/dear', ...cheap]) await cost(key, 0);
    for (const key of ['1/dear', '2/cheap']) await scene.come(key);
    scene.work(100);
    scene.scheduler.connected(1);
    for (const key of ['2/cheap', '1/dear']) await scene.end('succeeded', key);
    for (const key of [...cheap, '1/dear', ...cheap]) await scene.come(key);
    expect(scene.inFlight.map(({ key }) => key)).toEqual([...cheap, '1/dear']);
  });

  test('a connection that lived for a short time is charged with the 1.5 ms of a handshake: 20 such attempts hold slots', async () => {
    const keys = many(40, 'closes');
    for (const key of keys) {
      await scene.come(key);
      scene.scheduler.shortLived(Number.parseInt(key, 10));
      await scene.end('succeeded', key);
    }
    for (const key of keys) await scene.come(key);
    expect(scene.inFlight).toHaveLength(20);
  });

  test('what an account did of which nothing is left is charged to nobody', async () => {
    await cost('1/a', 0);
    await scene.come('1/a');
    scene.work(1_000);
    scene.scheduler.connected(99);
    await scene.end('succeeded');
    await scene.come('1/a', 2);
    expect(scene.inFlight).toHaveLength(2);
  });

  test('what the thread did before a delivery came is charged to nobody', async () => {
    await cost('1/a', 0);
    await scene.come('1/a');
    scene.work(1_000);
    await scene.come('2/b');
    await scene.end('succeeded', '1/a');
    await scene.come('1/a', 2);
    expect(scene.inFlightOf('1/a')).toBe(2);
  });

  test('an account that used much of the thread comes after others that have more in flight, for seconds', async () => {
    open({ slots: 1 });
    for (const key of ['7/hangs', '7/dear', '8/hangs', '8/more', '8/a', '9/first']) await cost(key, 0);
    for (const key of ['7/hangs', '8/hangs', '8/more']) {
      await scene.come(key);
      await scene.goOn(HOLD_MS);
    }
    const next = async () => {
      await scene.come('9/first');
      for (const key of ['7/dear', '8/a']) await scene.come(key);
      await scene.end('succeeded', '9/first');
      const key = scene.began.at(-1);
      for (let n = 0; n < 2; n += 1) await scene.end('succeeded', scene.began.at(-1));
      return key;
    };
    expect(await next()).toBe('7/dear');
    await cost('7/dear', 20);
    expect(await next()).toBe('8/a');
    await scene.goOn(10 * SECOND);
    expect(await next()).toBe('7/dear');
  });
});

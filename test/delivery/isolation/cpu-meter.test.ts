/** What attempts cost the process's thread, and what that changes for whom they are made. */
import { CpuCost, CpuMeter } from '../../../src/delivery/isolation/cpu-meter.js';
import type { SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { endpointOf, SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const HOLD_MS = 50;
/** What the meter leaves out of each. */
const FOREIGN_MS = 4;

describe('the meter', () => {
  let busyMs: number;
  let meter: CpuMeter;
  beforeEach(() => {
    busyMs = 0;
    meter = new CpuMeter();
  });

  const charge = (ms: number, cost?: CpuCost) => {
    busyMs += ms;
    meter.charge(busyMs, cost);
  };

  /** Attempts, for each of which the thread worked so long. */
  const ended = (cost: CpuCost, ...each: readonly number[]) => {
    for (const ms of each) {
      busyMs += ms + FOREIGN_MS;
      meter.ended(busyMs, cost);
    }
  };

  test('charges an endpoint with what the thread did since it charged another, but for 4 ms', () => {
    const [one, other] = [new CpuCost(), new CpuCost()];
    charge(5 + FOREIGN_MS, one);
    charge(20 + FOREIGN_MS, other);
    charge(1 + FOREIGN_MS, one);
    charge(FOREIGN_MS, one);
    expect([one.sinceLastMs, other.sinceLastMs]).toEqual([6, 20]);
  });

  test('charges none with what was for none', () => {
    const one = new CpuCost();
    charge(50);
    charge(1 + FOREIGN_MS, one);
    expect(one.sinceLastMs).toBe(1);
  });

  test('guesses that the first attempt of an endpoint costs what those of others did, or at least a handshake', () => {
    expect(meter.expected(new CpuCost(), false)).toBe(1.75);
    const expected = () => meter.expected(new CpuCost(), false);
    for (let n = 0; n < 100; n += 1) ended(new CpuCost(), 8);
    expect(Math.abs(expected() - 8)).toBeLessThan(2.5);
    ended(new CpuCost(), ...Array.from({ length: 100 }, () => 0));
    expect(Math.abs(expected() - 8)).toBeLessThan(2.5);
  });

  test('takes the median of first attempts: of a busy thread, one of three is charged with other work', () => {
    for (let n = 0; n < 300; n += 1) ended(new CpuCost(), n % 3 === 0 ? 100 : 2);
    expect(Math.abs(meter.expected(new CpuCost(), false) - 2)).toBeLessThan(1);
  });

  test('still learns what first attempts take after thousands that took nothing', () => {
    for (let n = 0; n < 5_000; n += 1) ended(new CpuCost(), 0);
    for (let n = 0; n < 20; n += 1) ended(new CpuCost(), 20);
    expect(meter.expected(new CpuCost(), false)).toBeGreaterThan(15);
  });

  test('guesses what the next one costs by those before, of which the last has the greatest weight', () => {
    const cost = new CpuCost();
    ended(cost, 1, 1, 1, 9);
    expect(meter.expected(cost, false)).toBeGreaterThan(3);
    expect(meter.expected(cost, false)).toBeLessThan(5);
  });

  test('counts one costly attempt of a cheap endpoint for 8 ms at most', () => {
    const [cost, other] = [new CpuCost(), new CpuCost()];
    ended(cost, ...Array(20).fill(0), 60);
    ended(other, ...Array(20).fill(0), 8);
    expect(meter.expected(cost, true)).toBe(meter.expected(other, true));
    expect(meter.expected(cost, true)).toBeLessThan(1);
  });

  test.each<[string, readonly number[], boolean]>([
    ['none has ended', [], false],
    ['the first took more than 1 ms', [1.1], true],
    ['the first took 1 ms', [1], false],
    ['the first took much, and the second nothing', [100, 0], false],
    ['all of the last twelve took more', [...Array(50).fill(0), ...Array(12).fill(2)], true],
    ['one of five takes very much', Array(20).fill([0, 0, 0, 0, 100]).flat(), false],
    ['each second one takes a handshake', Array(20).fill([0, 1.5]).flat(), false],
  ])('says whether attempts are dear: %s', (_, each, isDear) => {
    const cost = new CpuCost();
    ended(cost, ...each);
    expect(cost.isDear).toBe(isDear);
  });

  test('is sure only after a dozen: the first ones open connections', () => {
    const cost = new CpuCost();
    ended(cost, ...Array(8).fill(2));
    expect([cost.isDear, cost.isSurelyDear]).toEqual([true, false]);
    for (let n = 0; n < 8; n += 1) ended(cost, 2);
    expect(cost.isSurelyDear).toBe(true);
  });

  test('counts 1.5 ms for each connection that ended, for one attempt each', () => {
    const cost = new CpuCost();
    cost.reconnects = 2;
    ended(cost, 0, 0);
    expect([cost.expectedMs(0), cost.isDear]).toEqual([1.5, true]);
    ended(cost, 0);
    expect(cost.expectedMs(0)).toBeLessThan(1.5);
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
      scene.work(ms + FOREIGN_MS);
      await scene.end('succeeded', key);
    }
  };

  /** Of an endpoint that has something queued or in flight, or begins to. */
  const isDear = (key: string) => scene.scheduler.endpoints.of(...endpointOf(key)).pace.cost.isDear;

  const many = (count: number, url: string) => Array.from({ length: count }, (_, n) => `${100 + n}/${url}`);

  test('dear attempts hold slots for 10 ms of the thread together', async () => {
    const keys = many(10, 'dear');
    for (const key of keys) await cost(key, 6);
    for (const key of keys) await scene.come(key);
    expect(scene.inFlight).toHaveLength(2);
    await scene.end('succeeded');
    expect(scene.inFlight).toHaveLength(2);
    await scene.goOn(HOLD_MS);
    expect(scene.inFlight).toHaveLength(4);
  });

  test('dear attempts keep no slot from others', async () => {
    const keys = many(10, 'dear');
    for (const key of keys) await cost(key, 100);
    await cost('1/cheap', 0);
    for (const key of [...keys, '1/cheap', '2/new']) await scene.come(key);
    expect(scene.inFlight.map(({ key }) => key)).toEqual([keys[0], '1/cheap', '2/new']);
  });

  test('first attempts hold slots for 30 ms of the thread, each counted as others have cost', async () => {
    for (const key of many(40, 'new')) await scene.come(key);
    expect(scene.inFlight).toHaveLength(17);
    open();
    for (let n = 0; n < 30; n += 1) await cost(`${n}/other`, 4);
    for (const key of many(40, 'new')) await scene.come(key);
    // 7 or 8, where the estimate is not one step from it.
    expect(Math.abs(scene.inFlight.length - 7.5)).toBeLessThan(2);
  });

  test('first attempts get more of the thread while their slots are free in time', async () => {
    for (const key of many(200, 'new')) await scene.come(key);
    const inSlots = scene.inFlight.length;
    await scene.goOn(HOLD_MS);
    expect(scene.inFlight.length - inSlots).toBeGreaterThan(inSlots);
  });

  test('failing attempts hold slots for 30 ms of the thread, of a sixteenth of all', async () => {
    const failing = async (ms: number) => {
      open();
      for (const key of many(40, 'failing')) {
        await scene.come(key);
        scene.work(ms + FOREIGN_MS);
        await scene.end('failed', key);
        await scene.goOn(HOLD_MS);
      }
      for (const key of many(40, 'failing')) await scene.come(key);
      return scene.inFlight.length;
    };
    expect(await failing(0)).toBe(16);
    expect(await failing(4)).toBe(8);
  });

  test('a handshake is charged to its URL, not to the one whose attempt ends next', async () => {
    for (const key of ['1/dear', '2/cheap']) await cost(key, 0);
    for (const key of ['1/dear', '2/cheap']) await scene.come(key);
    scene.work(100);
    scene.scheduler.connected(...endpointOf('1/dear'));
    for (const key of ['2/cheap', '1/dear']) await scene.end('succeeded', key);
    expect(['1/dear', '2/cheap'].map(isDear)).toEqual([true, false]);
  });

  test('a connection that ended is charged to its URL too', async () => {
    for (const key of ['1/closes', '1/keeps']) await scene.come(key);
    scene.scheduler.disconnected(...endpointOf('1/closes'));
    for (const key of ['1/keeps', '1/closes']) await scene.end('succeeded', key);
    expect(['1/keeps', '1/closes'].map(isDear)).toEqual([false, true]);
  });

  test('what an account did of which nothing is left is charged to nobody', async () => {
    await cost('1/a', 0);
    await scene.come('1/a');
    scene.work(1_000);
    scene.scheduler.connected(99, 'https://a99.com/');
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
});

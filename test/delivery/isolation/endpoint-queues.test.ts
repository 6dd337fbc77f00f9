/** What is queued for an endpoint, and what is deferred: at once, or after a while. */
import type { SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { EndpointPace, withoutDelay } from '../../../src/delivery/isolation/endpoint-pace.js';
import { endpointOf, SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const MIB = 1024 * 1024;

let scene: SchedulerScene;
function open(parts: Partial<SchedulerParts> = {}): void {
  scene = new SchedulerScene(parts);
}
beforeEach(() => open());

describe('the queue has room', () => {
  test('for deliveries to a new endpoint, all of which get their turn', async () => {
    await scene.come('a', 1_001);
    expect(scene.deferred).toEqual([]);
    for (let n = 0; n < 1_001; n += 1) await scene.end();
    expect(scene.began).toHaveLength(1_001);
  });

  test('for 2,276 deliveries of a new account: as many are then left of five sixths of 8,192', async () => {
    await scene.come('a', 1 + 2_276 + 1);
    expect(scene.why()).toEqual(['queue']);
    await scene.end('succeeded');
    await scene.come('a');
    expect(scene.deferred).toHaveLength(1);
  });

  test('for 1,821 deliveries to untried endpoints of an account that is not new: as many are then left of two thirds', async () => {
    await scene.come('hangs');
    await scene.goOn(SECOND);
    for (let n = 0; n < 16; n += 1) await scene.come(`new-${n}`, 200);
    const { waiting } = scene.scheduler.state;
    expect(waiting).toBe(1_821);
  });

  test('for what a proven endpoint takes within a minute, with its largest window', async () => {
    await scene.attempts('a', 'succeeded', 1, 6 * SECOND);
    await scene.come('a', 400);
    expect(scene.inFlight).toHaveLength(2);
    expect(scene.deferred).toHaveLength(400 - 160);
  });

  test('for all that an endpoint takes within a second: it waits for this process', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.come('a', 16 + 10_000);
    expect(scene.deferred).toEqual([]);
  });

  test('for what an endpoint that fails takes within five seconds', async () => {
    await scene.attempts('a', 'failed', 1, 500);
    await scene.come('a', 100);
    expect(scene.inFlight).toHaveLength(1);
    expect(scene.deferred).toHaveLength(100 - 10);
  });

  test('for one delivery, to an idle endpoint that timed out', async () => {
    await scene.attempts('a', 'failed', 1, 15 * SECOND);
    await scene.come('a', 3);
    expect(scene.inFlight).toHaveLength(1);
    expect(scene.deferred).toHaveLength(2);
  });

  test('for what a paced endpoint takes within two minutes', async () => {
    await scene.attempts('a', 'refused');
    await scene.come('a', 100);
    // One each two seconds, and some more after 50 ms.
    expect(scene.why()).toEqual(Array(100 - 63).fill('queue'));
  });

  test('of an endpoint of which some deliveries fail: it stays proven', async () => {
    await scene.attempts('a', 'succeeded', 3, 1_500);
    await scene.come('a', 100);
    await scene.end('failed');
    await scene.goOn(30 * SECOND);
    expect(scene.deferred).toEqual([]);
  });
});

describe('once as many deliveries wait for endpoints as may', () => {
  const deferredOf = (key: string) => scene.deferred.filter((one) => one.key === key).length;

  beforeEach(async () => {
    open({ slots: 16 });
    await scene.attempts('9/fast', 'succeeded', 20);
    await scene.attempts('9/slow', 'succeeded', 2, 50);
    await scene.attempts('12/fails', 'failed');
    await scene.come('11/hangs');
    await scene.goOn(SECOND);
    // The first delivery of each account is in flight.
    const left = () => 5_446 - scene.scheduler.endpoints.waiting;
    for (let id = 100; left() > 0; id += 1) await scene.come(`${id}/new`, 1 + Math.min(2_000, left()));
  });

  test('an account whose endpoints fail has room for a few', async () => {
    await scene.come('12/fails', 100);
    expect(deferredOf('12/fails')).toBe(100 - 8 - (scene.beganOf('12/fails') - 1));
  });

  test('an account that is not new has room for twice as many deliveries to endpoints that were never tried', async () => {
    await scene.come('11/new', 100);
    expect(deferredOf('11/new')).toBe(100 - 16 - scene.beganOf('11/new'));
  });

  test('a new account has room for half of what is then left of five sixths of all', async () => {
    await scene.come('10/new', 5_000);
    expect(scene.scheduler.endpoints.known(...endpointOf('10/new'))?.queue.length).toBe(461);
    expect(deferredOf('10/new')).toBe(5_000 - 461 - scene.beganOf('10/new'));
  });

  test('an endpoint that takes deliveries and costs little has room for half of what is left of half as many more', async () => {
    await scene.come('9/slow', 5_000);
    const waits = scene.scheduler.endpoints.known(...endpointOf('9/slow'))?.queue.length ?? 0;
    expect(waits).toBeGreaterThan(850);
    expect(deferredOf('9/slow')).toBe(5_000 - waits - (scene.beganOf('9/slow') - 2));
  });

  test('an endpoint that answers within 50 ms has room for what it takes within a second', async () => {
    await scene.come('9/fast', 16 + 1_000);
    expect(deferredOf('9/fast')).toBe(0);
  });

  test('one that looked dear once has room for a dozen, whatever else its account has waiting', async () => {
    await scene.come('10/looks');
    scene.work(50);
    await scene.end('succeeded', '10/looks');
    await scene.come('10/new', 100);
    const began = scene.beganOf('10/looks');
    await scene.come('10/looks', 20);
    expect(deferredOf('10/looks')).toBe(20 - 12 - (scene.beganOf('10/looks') - began));
  });
});

test('half of that is for endpoints of which something is known that is not in their favor', async () => {
  open({ slots: 16 });
  for (let id = 100; scene.scheduler.endpoints.waiting < 4_096; id += 1) await scene.come(`${id}/new`, 2_000);
  await scene.come('11/new', 100);
  expect(scene.inFlightOf('11/new')).toBe(1);
  expect(scene.deferred.filter(({ key }) => key === '11/new')).toEqual([]);
  await scene.goOn(SECOND);
  await scene.come('11/new');
  expect(scene.deferred.at(-1)?.key).toBe('11/new');
});

test.each([
  ['their first attempts hang', 'new', 30],
  ['they take seconds', 'slow', 60],
])('600 accounts do not fill what the dispatcher may have in flight where %s', async (_, url, each) => {
  open();
  for (let id = 100; id < 700; id += 1) {
    if (url === 'slow') await scene.attempts(`${id}/slow`, 'succeeded', 1, 3 * SECOND);
    await scene.come(`${id}/${url}`, each);
  }
  const { waiting, active } = scene.scheduler.state;
  expect(waiting + active).toBeLessThan(16_384);
});

describe('by the bytes that it holds, a queue', () => {
  test('of a new account is full at a third of 27 MiB, and has room again when it holds less', async () => {
    await scene.come('a', 1 + 9 + 1, { bytes: MIB });
    expect(scene.why()).toEqual(['queue']);
    await scene.end();
    await scene.come('a', 1, { bytes: MIB });
    expect(scene.deferred).toHaveLength(1);
  });

  test('takes something still to a new endpoint where all hold 32 MiB', async () => {
    for (let id = 1; id <= 20; id += 1) await scene.come(`${id}/a`, 12, { bytes: MIB });
    scene.deferred.length = 0;
    await scene.come('99/e', 2, { bytes: MIB });
    expect(scene.deferred.length).toBeLessThan(2);
  });

  test('counts them out again', async () => {
    await scene.come('a', 5, { bytes: MIB });
    expect(scene.scheduler.state).toMatchObject({ waiting: 4, waitingBytes: 4 * MIB });
    for (let n = 0; n < 5; n += 1) await scene.end();
    expect(scene.scheduler.state).toEqual({ active: 0, waiting: 0, waitingBytes: 0, breakersOpen: 0 });
  });
});

describe('what is queued is deferred', () => {
  test('after five seconds where its endpoint fails', async () => {
    await scene.attempts('a', 'failed');
    await scene.come('a', 3);
    await scene.goOn(5 * SECOND - 1);
    expect(scene.deferred).toEqual([]);
    await scene.goOn(1);
    expect(scene.why()).toEqual(['endpoint-failing', 'endpoint-failing']);
    expect(scene.inFlight).toHaveLength(1);
  });

  test.each([0, 1])('after a minute where nothing is known against it: after %d 2xx', async (before) => {
    await scene.attempts('a', 'succeeded', before);
    await scene.come('a', 4 + before);
    await scene.goOn(60 * SECOND - 1);
    expect(scene.deferred).toEqual([]);
    await scene.goOn(1);
    expect(scene.why()).toEqual(['queue', 'queue', 'queue']);
  });

  test('after a minute where its endpoint was proven within the first five seconds', async () => {
    await scene.come('a', 10);
    await scene.goOn(4 * SECOND);
    await scene.end('succeeded');
    await scene.goOn(56 * SECOND - 1);
    expect(scene.deferred).toEqual([]);
    await scene.goOn(1);
    expect(scene.deferred).toHaveLength(7);
  });

  test('after two minutes where its endpoint asked for a pause', async () => {
    await scene.attempts('a', 'succeeded', 100);
    const pause = { signal: 'refused', retryAfterMs: 60 * SECOND } as const;
    await scene.attempts('a', pause);
    await scene.come('a', 60);
    await scene.goOn(60 * SECOND);
    await scene.end(pause);
    await scene.goOn(60 * SECOND - 1);
    expect(scene.deferred).toEqual([]);
    await scene.goOn(1);
    expect(scene.deferred).toHaveLength(58);
    expect(new Set(scene.why())).toEqual(new Set(['endpoint-paused']));
  });

  test('each for itself: what came later is queued for as long', async () => {
    await scene.attempts('a', 'failed');
    await scene.come('a', 2);
    await scene.goOn(3 * SECOND);
    await scene.come('a');
    await scene.goOn(2 * SECOND);
    expect(scene.deferred).toHaveLength(1);
    await scene.goOn(3 * SECOND);
    expect(scene.deferred).toHaveLength(2);
  });
});

describe('why it is deferred', () => {
  test('is the queue of an endpoint that takes deliveries, though some fail, and of one that was never tried', async () => {
    await scene.attempts('a', 'succeeded', 3);
    await scene.attempts('a', 'failed', 1);
    await scene.come('a', 5_000);
    await scene.come('b', 3_000);
    expect(new Set(scene.why())).toEqual(new Set(['queue']));
  });

  test('is the endpoint that fails, also where its queue is full or moves too slowly', async () => {
    await scene.attempts('a', 'failed', 1, SECOND);
    await scene.come('a', 6);
    expect(scene.why()).toEqual(['endpoint-failing']);
    await scene.goOn(5 * SECOND);
    expect(scene.why()).toEqual(Array(5).fill('endpoint-failing'));
  });

  test('is the pause for which the endpoint asked, with the time that is left of it', async () => {
    await scene.attempts('a', { signal: 'refused', retryAfterMs: 30 * SECOND });
    await scene.goOn(10 * SECOND - 50);
    await scene.come('a', 61);
    const deferred = { key: 'a', kind: 'deferred', why: 'endpoint-paused', pausedMs: 20 * SECOND, turnMs: 0 };
    expect(scene.deferred).toEqual(Array(61 - 50).fill(deferred));
  });
});

describe('how long an attempt took', () => {
  test.each([
    [100, 80, 100, 'while the thread had time'],
    [100, 100, 5, 'if the endpoint responded while the thread was busy'],
    [300, 290, 100, 'less 200 ms at most'],
    [15_000, 15_000, 14_800, 'if it hung'],
    [3, 3, 3, 'if that is less than 5 ms'],
  ])('%i ms, of which the thread was busy for %i, counts as %i: %s', (tookMs, busyMs, counted) => {
    expect(withoutDelay(tookMs, busyMs)).toBe(counted);
  });

  /** Attempts of 150 ms while the thread is busy. */
  const whileBusy = async (isCharged: boolean) => {
    for (let n = 0; n < 60; n += 1) {
      await scene.come('a');
      scene.work(150);
      await scene.goOn(150);
      if (!isCharged) scene.scheduler.connected(...endpointOf('9/other'));
      await scene.end('succeeded', 'a');
    }
    return scene.scheduler.endpoints.of(...endpointOf('a')).pace.takesWithin(SECOND, scene.clock.now());
  };

  test('leaves out the delay by a process that has no time: what waits for it is not deferred', async () => {
    expect(await whileBusy(false)).toBe(16 * 200);
    await scene.come('a', 3_100);
    expect(scene.deferred).toEqual([]);
  });

  test('counts in full of an expensive endpoint: it is itself what delays its attempts', async () => {
    expect(await whileBusy(true)).toBe(Math.floor((16 * 1_000) / 150));
  });
});

describe('the turn of a deferred delivery', () => {
  /** 160 a second. */
  const proven = () => scene.attempts('a', 'succeeded', 30, 100);
  const turns = () => scene.deferred.map(({ turnMs }) => turnMs);

  test('is after those that are queued and those that were deferred before, by the endpoint’s own rate', async () => {
    await proven();
    await scene.come('a', 4_000);
    expect(scene.deferred.length).toBeGreaterThan(1_000);
    expect(turns()).toEqual(turns().toSorted((one, other) => one - other));
    // It returns five seconds early.
    expect(turns().at(-1)).toBeCloseTo(4_000 / 0.16 - 5 * SECOND, -3);
  });

  test('is not moved behind the others if it comes too early', async () => {
    await proven();
    await scene.come('a', 4_000);
    const last = turns().at(-1) ?? 0;
    const before = scene.deferred.length;
    await scene.come('a', 1, { hadTurn: true });
    expect(scene.deferred).toHaveLength(before + 1);
    // Behind the queue only, not behind those that were deferred before it.
    expect(turns().at(-1)).toBeLessThan(last - 5 * SECOND);
  });

  test.each([
    [1, 3_600, 55, 'a minute while the endpoint may be expensive'],
    [30, 3_600, 595, 'ten minutes if it surely is'],
    [30, 20, 15, 'the time since its first attempt'],
  ])(
    'after %i attempts that took long, the first %i s ago, is at most %i s away: within %s',
    (attempts, ago, seconds) => {
      const pace = new EndpointPace();
      const now = ago * SECOND;
      for (let n = 0; n < attempts; n += 1) {
        pace.began(0);
        pace.cost.sinceLastMs = 50;
        pace.cost.ended();
        pace.succeeded(10, 0, 16);
      }
      const booked = Array.from({ length: 5_000 }, () => pace.bookTurn(1_000, now, 16));
      expect(Math.max(...booked)).toBe(seconds * SECOND);
      expect(pace.bookTurn(100_000, now, 16, true)).toBe(seconds * SECOND);
      for (let n = 0; n < 100; n += 1) pace.cost.ended();
      expect(pace.bookTurn(100, now, 16)).toBeLessThan(SECOND);
    },
  );

  test('is unknown of an endpoint that asked for less: its rate grows', async () => {
    await proven();
    await scene.attempts('a', 'refused');
    await scene.come('a', 4_000);
    expect(new Set(turns())).toEqual(new Set([0]));
  });
});

describe('urgent deliveries', () => {
  const begun = () => scene.inFlight.map(({ key }) => key);

  test('begin before those that wait, in their own order', async () => {
    await scene.come('a', 3, { delivery: 'bulk' });
    const acquire = (delivery: string, isUrgent: boolean) =>
      scene.scheduler.acquire(...endpointOf('a'), { bytes: 0, delivery, isUrgent });
    const order: string[] = [];
    for (const [name, isUrgent] of [
      ['first', true],
      ['bulk', false],
      ['second', true],
    ] as const)
      void acquire(name, isUrgent).then((one) => {
        order.push(name);
        if (one.kind === 'acquired') one.leave();
      });
    expect(begun()).toHaveLength(1);
    for (let n = 0; n < 3; n += 1) await scene.end('succeeded');
    expect(order).toEqual(['first', 'second', 'bulk']);
  });

  test('have room where the queue is full', async () => {
    await scene.attempts('a', 'succeeded', 30, 100);
    await scene.come('a', 4_000);
    const before = scene.deferred.length;
    await scene.come('a', 1, { isUrgent: true });
    expect(scene.deferred).toHaveLength(before);
  });
});

describe('a delivery whose lifetime ends while it is queued', () => {
  const begun = () => scene.began.slice(1);
  /** One attempt in flight, others queued for a minute. */
  beforeEach(() => scene.come('a', 5));

  test('is deferred within five seconds if it has had an attempt', async () => {
    await scene.come('a', 1, { leftMs: 6 * SECOND, hasHadAttempt: true });
    await scene.goOn(10 * SECOND - 1);
    expect(scene.deferred).toEqual([]);
    await scene.goOn(1);
    expect(scene.why()).toEqual(['queue']);
  });

  test('waits for five seconds if it has had an attempt and its lifetime was over before', async () => {
    await scene.come('a', 1, { leftMs: 0, hasHadAttempt: true });
    await scene.goOn(5 * SECOND - 1);
    expect(scene.deferred).toEqual([]);
    await scene.goOn(1);
    expect(scene.why()).toEqual(['queue']);
  });

  test('goes first if it has had none, and is not deferred', async () => {
    const order: string[] = [];
    const come = (name: string, leftMs: number) =>
      scene.scheduler.acquire(...endpointOf('a'), { bytes: 0, leftMs, hasHadAttempt: false }).then((one) => {
        order.push(name);
        if (one.kind === 'acquired') one.leave();
      });
    void come('ends', 6 * SECOND);
    void come('does not end', 600 * SECOND);
    void come('had ended', 0);
    await scene.goOn(120 * SECOND);
    expect(scene.deferred).toHaveLength(4);
    expect(order).toEqual(['does not end']);
    await scene.end('succeeded');
    expect(order).toEqual(['does not end', 'had ended', 'ends']);
    expect(scene.scheduler.state).toMatchObject({ active: 0, waiting: 0 });
  });

  test('is deferred if its endpoint fails, though it has had none', async () => {
    await scene.end('failed');
    await scene.come('a', 1, { leftMs: 0, hasHadAttempt: false });
    await scene.goOn(5 * SECOND);
    expect(new Set(scene.why())).toEqual(new Set(['endpoint-failing']));
    expect(scene.deferred).toHaveLength(4);
    expect(begun()).toHaveLength(1);
  });

  test('has room as urgent ones have if it has had none, also where the queue is full', async () => {
    await scene.come('a', 3_000);
    const before = scene.deferred.length;
    expect(before).toBeGreaterThan(0);
    await scene.come('a', 1, { leftMs: 0, hasHadAttempt: false });
    expect(scene.deferred).toHaveLength(before);
    await scene.come('a', 1, { leftMs: 0, hasHadAttempt: true });
    expect(scene.deferred).toHaveLength(before + 1);
  });
});

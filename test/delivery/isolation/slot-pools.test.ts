import { CpuBudget } from '../../../src/delivery/isolation/slot-pools.js';
import { HOLD_MS } from '../../../src/delivery/isolation/slots.js';
import { endpointOf, SchedulerScene } from '../../support/scenes/scheduler-scene.js';

let budget: CpuBudget;
let now: number;
/** An attempt whose slot was to be free 50 ms after it began. */
const held = (lateMs: number, isUsed = true) => {
  const beganAt = now;
  now += HOLD_MS + lateMs;
  budget.held(beganAt, now, isUsed);
};
beforeEach(() => {
  budget = new CpuBudget();
  now = 1;
});

describe('the budget', () => {
  it('begins with 30 ms', () => expect(budget.ms).toBe(30));

  it('grows by 5 ms in 50 while attempts wait for it and the event loop is not late, up to 200 ms', () => {
    held(10);
    expect(budget.ms).toBe(35);
    for (let n = 0; n < 100; n += 1) held(10);
    expect(budget.ms).toBe(200);
  });

  it('grows once for attempts that began together', () => {
    for (let n = 0; n < 5; n += 1) budget.held(1, 1 + HOLD_MS, true);
    expect(budget.ms).toBe(35);
  });

  it('does not grow while nothing waits for it', () => {
    held(0, false);
    expect(budget.ms).toBe(30);
  });

  it('is halved when the event loop is late, down to 10 ms', () => {
    for (let n = 0; n < 100; n += 1) held(0);
    held(31);
    expect(budget.ms).toBe(100);
    for (let n = 0; n < 5; n += 1) held(31);
    expect(budget.ms).toBe(10);
  });

  it('is halved once for attempts that began together', () => {
    for (let n = 0; n < 100; n += 1) held(0);
    for (let n = 0; n < 5; n += 1) budget.held(now, now + HOLD_MS + 40, true);
    expect(budget.ms).toBe(100);
  });
});

describe('an attempt that needs no handshake', () => {
  const SLOTS = 256;
  let idle: Map<string, number>;
  let scene: SchedulerScene;
  beforeEach(() => {
    idle = new Map();
    scene = new SchedulerScene({ slots: SLOTS, idleTo: (url) => idle.get(url) ?? 0 });
  });
  const [, healthy] = endpointOf('7/well');
  /** Endpoints that have succeeded once, of as many accounts: more than the budget has room for. */
  const many = async () => {
    for (let id = 100; id < 150; id += 1) await scene.attempts(`${id}/others`, 'succeeded');
    await scene.goOn(60_000);
    for (let id = 100; id < 150; id += 1) await scene.come(`${id}/others`, 3);
    expect(scene.inFlight.length).toBeLessThan(50);
    scene.began.length = 0;
  };

  it('is before those that do, however long they have waited', async () => {
    await scene.attempts('7/well', 'succeeded');
    await many();
    await scene.come('7/well');
    expect(scene.began).toEqual([]);
    idle.set(healthy, 1);
    scene.scheduler.freed(7, healthy);
    await scene.goOn(HOLD_MS);
    expect(scene.began[0]).toBe('7/well');
  });

  it('is one for each idle connection: those that began just now have yet to take theirs', async () => {
    for (let n = 0; n < 8; n += 1) await scene.attempts('7/well', 'succeeded');
    await many();
    idle.set(healthy, 2);
    await scene.come('7/well', 5);
    await scene.goOn(HOLD_MS);
    expect(scene.began.slice(0, 2)).toEqual(['7/well', '7/well']);
    expect(scene.began[2]).not.toBe('7/well');
  });

  it('is no exception where it costs much by itself', async () => {
    for (let n = 0; n < 12; n += 1) {
      await scene.come('7/well');
      scene.work(50);
      await scene.end('succeeded', '7/well');
    }
    idle.set(healthy, 1);
    await many();
    await scene.come('7/well', 5);
    await scene.goOn(5);
    // The dear ones' own share has room for one.
    expect(scene.beganOf('7/well')).toBe(1);
  });
});

describe('slots are short', () => {
  it('while first attempts wait for the budget of the thread, and no longer', async () => {
    const scene = new SchedulerScene();
    expect(scene.scheduler.slotsAreShort).toBe(false);
    for (let id = 100; id < 150; id += 1) await scene.come(`${id}/new`);
    expect(scene.scheduler.slotsAreShort).toBe(true);
    for (let n = 0; n < 50; n += 1) {
      await scene.goOn(HOLD_MS);
      while (scene.inFlight.length > 0) await scene.end();
    }
    expect([scene.began.length, scene.scheduler.slotsAreShort]).toEqual([50, false]);
  });

  it('not where an account waits for its own slow attempts', async () => {
    const scene = new SchedulerScene();
    for (let n = 0; n < 12; n += 1) {
      await scene.come(`7/hangs-${n}`);
      await scene.goOn(HOLD_MS);
    }
    expect(scene.began.length).toBeLessThan(12);
    expect(scene.scheduler.slotsAreShort).toBe(false);
  });
});

it('an endpoint that looked dear once is before those that surely are, if a connection is idle', async () => {
  const idle = new Map<string, number>();
  const scene = new SchedulerScene({ idleTo: (url) => idle.get(url) ?? 0 });
  const dear = async (key: string, times: number) => {
    for (let n = 0; n < times; n += 1) {
      await scene.come(key);
      scene.work(20);
      await scene.end('succeeded', key);
      await scene.goOn(HOLD_MS);
    }
  };
  for (let id = 100; id < 110; id += 1) await dear(`${id}/dear`, 12);
  await dear('7/well', 1);
  for (let id = 100; id < 110; id += 1) await scene.come(`${id}/dear`, 2);
  scene.began.length = 0;
  idle.set(endpointOf('7/well')[1], 1);
  await scene.come('7/well');
  await scene.goOn(HOLD_MS);
  expect(scene.began[0]).toBe('7/well');
});

describe('first attempts', () => {
  let scene: SchedulerScene;
  const endOthers = async (count: number) => {
    for (let n = 0; n < count; n += 1) {
      const other = scene.inFlight.find(({ key }) => !key.startsWith('8/'));
      if (other) await scene.end('succeeded', other.key);
    }
  };
  beforeEach(async () => {
    scene = new SchedulerScene({ slots: 4 });
    for (const url of ['a', 'b', 'c']) for (let id = 100; id < 110; id += 1) await scene.come(`${id}/${url}`);
    expect(scene.began).toEqual(['100/a', '101/a', '102/a', '103/a']);
    scene.began.length = 0;
  });

  it('are those of accounts first that had none', async () => {
    await scene.come('8/new');
    await endOthers(8);
    const others = [104, 105, 106, 107, 108, 109].map((id) => `${id}/a`);
    expect(scene.began).toEqual([...others, '8/new', expect.stringMatching(/b$/)]);
  });

  describe('of an account with another endpoint that keeps its connection', () => {
    const begin = async (end: 'succeeded' | 'failed') => {
      scene = new SchedulerScene({ slots: 4 });
      await scene.come('8/well', 2);
      await scene.end(end, '8/well');
      scene.scheduler.freed(...endpointOf('8/well'));
      for (let id = 100; id < 110; id += 1) for (const url of ['a', 'b']) await scene.come(`${id}/${url}`);
      for (const url of ['x', 'y', 'z']) await scene.come(`8/${url}`);
      scene.began.length = 0;
    };
    beforeEach(() => begin('succeeded'));

    it('are before all others, but take half of the slots while others wait', async () => {
      await endOthers(4);
      const others = expect.stringMatching(/^1/);
      expect(scene.began).toEqual(['8/x', '8/y', others, others]);
    });

    it('take half also where those wait that had an attempt', async () => {
      await endOthers(16);
      expect(scene.began.filter((key) => key.startsWith('8/'))).toEqual(['8/x', '8/y']);
    });

    it('take more once no other waits', async () => {
      await endOthers(20);
      expect(scene.began.at(-1)).toBe('8/z');
    });

    it('are not before others if it keeps its connection but fails', async () => {
      await begin('failed');
      await scene.goOn(HOLD_MS);
      await endOthers(4);
      const other = expect.stringMatching(/^1/);
      const began = scene.began.filter((key) => key !== '8/well');
      expect(began.slice(0, 4)).toEqual([other, other, other, other]);
    });
  });

  /** Endpoints of 200 accounts had their first attempt, and have an idle connection each. */
  const openWithOthers = async () => {
    const idle = new Map<string, number>();
    scene = new SchedulerScene({ idleTo: (url) => idle.get(url) ?? 0 });
    for (let id = 200; id < 400; id += 1) {
      await scene.attempts(`${id}/had`, 'succeeded');
      idle.set(endpointOf(`${id}/had`)[1], 1);
    }
  };

  it('leave 5 ms of a budget of 30 to endpoints that had theirs and have no usual rate yet', async () => {
    await openWithOthers();
    const began = (url: string) => scene.began.filter((key) => key.endsWith(url)).length;
    for (let id = 1_000; id < 2_000; id += 1) await scene.come(`${id}/new`);
    for (let id = 200; id < 400; id += 1) await scene.come(`${id}/had`);
    const had = () => scene.inFlight.filter(({ key }) => key.endsWith('/had')).length;
    let most = 0;
    while (began('/new') < 1_000) {
      most = Math.max(most, had());
      await scene.end();
    }
    expect(most).toBe(5 / 0.25);
    while (scene.inFlight.length > 0) await scene.end();
    expect(scene.scheduler.state.waiting).toBe(0);
  });

  it('leave all of the budget if those that wait do so for slow attempts of their own account', async () => {
    await openWithOthers();
    await scene.come('7/well', 2);
    await scene.end('succeeded', '7/well');
    scene.scheduler.freed(...endpointOf('7/well'));
    for (let n = 0; n < 20; n += 1) {
      await scene.come(`7/hangs-${n}`);
      await scene.goOn(HOLD_MS);
    }
    expect(scene.inFlight).toHaveLength(8);
    for (let id = 200; id < 400; id += 1) await scene.come(`${id}/had`);
    expect(scene.inFlight.length - 8).toBeGreaterThan(100);
  });

  it('leave all of the budget if those that wait are of accounts that had an attempt and are not vouched for', async () => {
    await openWithOthers();
    const urls = ['hangs', ...Array.from({ length: 6 }, (_, n) => `new-${n}`)];
    for (const url of urls) for (let id = 1_000; id < 1_100; id += 1) await scene.come(`${id}/${url}`);
    while (scene.began.filter((key) => key.endsWith('/hangs')).length < 100) await scene.goOn(HOLD_MS);
    expect(scene.scheduler.state.waiting).toBeGreaterThan(0);
    for (let id = 200; id < 400; id += 1) await scene.come(`${id}/had`);
    // The budget is 200 ms by then, and its eighth 25.
    expect(scene.inFlight.filter(({ key }) => key.endsWith('/had')).length).toBeGreaterThan(25 / 0.25);
  });

  it('are in turn by account, whatever else an account has in flight', async () => {
    await scene.come('8/well', 4);
    await endOthers(10);
    await scene.end('succeeded', '8/well');
    expect(scene.inFlightOf('8/well')).toBeGreaterThan(0);
    await scene.come('8/other');
    await endOthers(11);
    expect(scene.began).toContain('8/other');
  });
});

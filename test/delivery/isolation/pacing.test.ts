/** Endpoints that refuse: 429, or 503 with Retry-After. */
import { EndpointPace } from '../../../src/delivery/isolation/endpoint-pace.js';
import { SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;

let scene: SchedulerScene;
beforeEach(() => {
  scene = new SchedulerScene();
});

const refusal = (retryAfterMs = 0) => ({ signal: 'refused', retryAfterMs }) as const;

/** How many attempts begin within that time; each is answered within 10 ms by what `answer` says. */
async function beginWithin(ms: number, answer: () => 'succeeded' | 'refused' = () => 'succeeded'): Promise<number> {
  const before = scene.began.length;
  for (let passed = 0; passed < ms; passed += 10) {
    while (scene.inFlight.length > 0) await scene.end(answer());
    await scene.goOn(10);
  }
  return scene.began.length - before;
}

describe('a refusal without Retry-After', () => {
  test('slows the endpoint down to seven tenths of what it took within the last second, and a little more with time', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.attempts('a', 'refused');
    await scene.come('a', 100);
    await scene.goOn(449);
    expect(scene.inFlight).toHaveLength(0);
    await scene.goOn(1);
    expect(scene.inFlight).toHaveLength(1);
    await scene.goOn(SECOND + 1);
    expect(scene.inFlight).toHaveLength(1 + 15);
  });

  test('slows it down to one attempt each two seconds where it took nothing', async () => {
    await scene.attempts('a', 'refused');
    await scene.come('a', 2);
    await scene.goOn(1_949);
    expect(scene.inFlight).toHaveLength(0);
    await scene.goOn(1);
    expect(scene.inFlight).toHaveLength(1);
  });

  test('of several in flight together counts once', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.come('a', 16);
    await scene.goOn(10);
    for (let n = 0; n < 16; n += 1) await scene.end('refused');
    await scene.come('a', 100);
    await scene.goOn(500 + SECOND);
    expect(scene.inFlight).toHaveLength(1 + 15);
  });

  test('holds neither another endpoint of the account nor the window', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.attempts('a', 'refused');
    await scene.come('b');
    expect(scene.inFlightOf('b')).toBe(1);
    await scene.come('a', 100);
    await scene.goOn(10 * SECOND);
    expect(scene.inFlightOf('a')).toBe(16);
  });

  test('comes twice a second at most from an endpoint that refuses all', async () => {
    await scene.attempts('a', 'succeeded', 1_000);
    await scene.come('a', 200);
    expect(await beginWithin(10 * SECOND, () => 'refused')).toBeLessThanOrEqual(20);
  });
});

describe('Retry-After', () => {
  test('pauses the endpoint; then exactly one asks, until it was accepted', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.attempts('a', refusal(10 * SECOND));
    await scene.come('a', 50);
    await scene.goOn(10 * SECOND - 51);
    expect(scene.inFlight).toHaveLength(0);
    await scene.goOn(1);
    expect(scene.inFlight).toHaveLength(1);
    await scene.goOn(3 * SECOND);
    expect(scene.inFlight).toHaveLength(1);
    await scene.end('succeeded');
    await scene.goOn(SECOND);
    expect(scene.inFlight.length).toBeGreaterThanOrEqual(14);
  });

  test('pauses it for a minute at most', async () => {
    await scene.attempts('a', refusal(3_600 * SECOND));
    await scene.come('a');
    await scene.goOn(60 * SECOND - 51);
    expect(scene.inFlight).toHaveLength(0);
    await scene.goOn(1);
    expect(scene.inFlight).toHaveLength(1);
  });

  test('pauses it also where nothing was queued meanwhile', async () => {
    await scene.attempts('a', refusal(10 * SECOND));
    await scene.goOn(5 * SECOND);
    await scene.come('a', 3);
    await scene.goOn(5 * SECOND - 51);
    expect(scene.inFlight).toHaveLength(0);
    await scene.goOn(1);
    expect(scene.inFlight).toHaveLength(1);
  });

  test('of a refusal that came with others counts, and the longest is kept', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.come('a', 3);
    await scene.goOn(10);
    for (const ms of [0, 20 * SECOND, 5 * SECOND]) await scene.end(refusal(ms));
    await scene.come('a');
    await scene.goOn(20 * SECOND - 1);
    expect(scene.inFlight).toHaveLength(0);
    await scene.goOn(1);
    expect(scene.inFlight).toHaveLength(1);
  });

  test('that comes again and again slows it down once: the pause does the rest', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.attempts('a', refusal(10 * SECOND));
    await scene.come('a', 100);
    for (let n = 0; n < 10; n += 1) {
      await scene.goOn(10 * SECOND);
      await scene.end(refusal(10 * SECOND));
    }
    await scene.goOn(10 * SECOND);
    await scene.end('succeeded');
    await scene.goOn(SECOND);
    expect(scene.inFlight.length).toBeGreaterThanOrEqual(14);
  });

  test('lets another one ask alone where the one that asks fails', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.attempts('a', refusal(10 * SECOND));
    await scene.come('a', 50);
    await scene.goOn(10 * SECOND);
    await scene.end('failed');
    await scene.goOn(5 * SECOND);
    expect(scene.inFlight).toHaveLength(1);
  });
});

describe('the rate of a paced endpoint', () => {
  test('grows by half an attempt a second where it is low', async () => {
    await scene.attempts('a', 'refused');
    await scene.come('a', 60);
    await beginWithin(8 * SECOND);
    const count = await beginWithin(SECOND);
    expect(count).toBeGreaterThanOrEqual(3);
    expect(count).toBeLessThanOrEqual(6);
  });

  test('grows by a tenth a second where it is high', async () => {
    await scene.attempts('a', 'succeeded', 100);
    await scene.attempts('a', 'refused');
    await scene.come('a', 900);
    await beginWithin(450);
    expect(await beginWithin(SECOND)).toBeGreaterThanOrEqual(70);
    await beginWithin(3 * SECOND);
    const count = await beginWithin(SECOND);
    expect(count).toBeGreaterThanOrEqual(95);
    expect(count).toBeLessThanOrEqual(120);
  });

  test('falls to seven tenths with a refusal', async () => {
    await scene.attempts('a', 'succeeded', 100);
    await scene.attempts('a', 'refused');
    await scene.come('a', 900);
    await beginWithin(450);
    await scene.end('refused');
    await scene.goOn(500);
    const before = scene.began.length;
    await beginWithin(SECOND);
    expect(scene.began.length - before).toBeGreaterThanOrEqual(47);
    expect(scene.began.length - before).toBeLessThanOrEqual(58);
  });

  test('is forgotten beyond 1,000 a second, to which a URL without deliveries comes in 76 s', () => {
    const pace = new EndpointPace();
    pace.succeeded(1, 0, 16);
    pace.refused(0, 0, 1);
    expect(pace.takesWithin(SECOND, 75 * SECOND)).toBeLessThanOrEqual(1_000);
    expect(pace.patienceMs(75 * SECOND)).toBe(120 * SECOND);
    expect(pace.patienceMs(77 * SECOND)).toBe(60 * SECOND);
  });
});

describe('refusals', () => {
  const refused = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      await scene.come('a');
      await scene.goOn(2 * SECOND);
      await scene.end('refused');
    }
  };

  test('leave the breaker closed, however many there are', async () => {
    await refused(50);
    await scene.come('a');
    expect(scene.deferred).toEqual([]);
    expect(scene.scheduler.state.breakersOpen).toBe(0);
  });

  test('end a row of failures', async () => {
    await scene.attempts('a', 'failed', 9);
    await refused(1);
    for (let n = 0; n < 9; n += 1) {
      await scene.come('a');
      await scene.goOn(2 * SECOND);
      await scene.end('failed');
    }
    await scene.come('a');
    expect(scene.deferred).toEqual([]);
  });

  test('close a half-open breaker', async () => {
    await scene.attempts('a', 'failed', 10);
    await scene.goOn(5 * SECOND);
    await scene.come('a');
    expect(scene.inFlight[0]?.ended(refusal())).toBe('closed');
    await scene.come('a');
    expect(scene.deferred).toEqual([]);
  });
});

describe('an attempt reports whether its endpoint is failing', () => {
  const isFailing = async () => {
    await scene.come('a');
    return scene.inFlight.at(-1)?.isFailing;
  };

  test('not if it was never tried, or was idle for an hour', async () => {
    expect(await isFailing()).toBe(false);
    await scene.end('succeeded');
    await scene.goOn(3_600 * SECOND);
    expect(await isFailing()).toBe(false);
  });

  test('not if it only throttles', async () => {
    await scene.attempts('a', refusal());
    await scene.goOn(3 * SECOND);
    expect(await isFailing()).toBe(false);
  });

  test('if it failed, and accepted nothing since', async () => {
    await scene.attempts('a', 'failed');
    expect(await isFailing()).toBe(true);
  });
});

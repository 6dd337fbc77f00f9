/** What is queued for an endpoint, and what is deferred: at once, or after a while. */
import type { SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const MIB = 1024 * 1024;

let scene: SchedulerScene;
function open(parts: Partial<SchedulerParts> = {}): void {
  scene = new SchedulerScene(parts);
}
beforeEach(() => open());

describe('the queue has room', () => {
  test('for 1,000 deliveries to a new endpoint, all of which get their turn', async () => {
    await scene.come('a', 1_001);
    expect(scene.deferred).toEqual([]);
    for (let n = 0; n < 1_001; n += 1) await scene.end();
    expect(scene.began).toHaveLength(1_001);
  });

  test('for no more than that; what finds it full is deferred at once, and it has room again when one has begun', async () => {
    await scene.come('a', 1_002);
    expect(scene.why()).toEqual(['queue']);
    await scene.end('succeeded');
    await scene.come('a');
    expect(scene.deferred).toHaveLength(1);
  });

  test('for what a proven endpoint takes within a minute', async () => {
    await scene.attempts('a', 'succeeded', 1, 6 * SECOND);
    await scene.come('a', 100);
    // Two at a time, each of which takes 6 s.
    expect(scene.inFlight).toHaveLength(2);
    expect(scene.deferred).toHaveLength(100 - 20);
  });

  test('for 1,000 at most, however soon an endpoint answers', async () => {
    await scene.attempts('a', 'succeeded', 20);
    await scene.come('a', 16 + 1_001);
    expect(scene.why()).toEqual(['queue']);
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

describe('where 7,500 deliveries are queued for all endpoints', () => {
  const deferredOf = (key: string) => scene.deferred.filter((one) => one.key === key).length;

  beforeEach(async () => {
    open({ slots: 16 });
    await scene.attempts('9/fast', 'succeeded', 20);
    await scene.attempts('9/slow', 'succeeded', 2, 50);
    for (let id = 1; id <= 8; id += 1) await scene.come(`${id}/new`, 1_001);
    expect(scene.scheduler.endpoints.waiting).toBeGreaterThan(7_500);
  });

  test('one has room for its share of them', async () => {
    await scene.come('10/new', 1_000);
    // Of nine.
    expect(deferredOf('10/new')).toBe(1_000 - 834);
    await scene.come('9/slow', 3 + 1_000);
    expect(deferredOf('9/slow')).toBe(1_000 - 750);
  });

  test('and one that answers within 50 ms has room for 1,000 still', async () => {
    await scene.come('9/fast', 16 + 1_000);
    expect(deferredOf('9/fast')).toBe(0);
  });
});

describe('by the bytes that it holds, a queue', () => {
  test('is full at 16 MiB, and has room again when it holds less', async () => {
    await scene.come('a', 18, { bytes: MIB });
    expect(scene.why()).toEqual(['queue']);
    await scene.end();
    await scene.come('a', 1, { bytes: MIB });
    expect(scene.deferred).toHaveLength(1);
  });

  test('is full at its share where all hold 32 MiB, and a new one takes something still', async () => {
    for (const key of ['1/a', '2/b', '3/c']) await scene.come(key, 12, { bytes: MIB });
    await scene.come('1/a', 1, { bytes: MIB });
    expect(scene.why()).toEqual(['queue']);
    await scene.come('5/e', 2, { bytes: MIB });
    expect(scene.deferred).toHaveLength(1);
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
    await scene.come('b', 1_002);
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
    const deferred = { key: 'a', kind: 'deferred', why: 'endpoint-paused', pausedMs: 20 * SECOND };
    expect(scene.deferred).toEqual(Array(61 - 50).fill(deferred));
  });
});

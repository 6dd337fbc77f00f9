import type { EndpointSignal } from '../../../src/delivery/isolation/circuit-breaker.js';
import { SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const HOLD_MS = 50;

let scene: SchedulerScene;
beforeEach(() => {
  scene = new SchedulerScene();
});

const fails = (times: number, key = 'a', signal: EndpointSignal = 'failed') => scene.attempts(key, signal, times);

describe('a breaker that opens', () => {
  test('defers all in its queue, and all that come; other URLs and accounts go on', async () => {
    await scene.attempts('a', 'succeeded', 3);
    await fails(9);
    await scene.come('a', 100);
    await scene.end('failed');
    expect(scene.deferred).toHaveLength(99);
    await scene.come('a');
    expect(scene.why()).toEqual(Array(100).fill('endpoint-failing'));
    for (const key of ['b', '2/a']) await scene.come(key);
    expect(scene.began.slice(-2)).toEqual(['b', '2/a']);
  });

  test('does so by 30 s of nothing but failures, too', async () => {
    await fails(1);
    await scene.goOn(30 * SECOND);
    await fails(1);
    await scene.come('a');
    expect(scene.why()).toEqual(['endpoint-failing']);
  });

  test('lets one pass when the pause is over, and all when that one succeeded', async () => {
    await fails(10);
    await scene.goOn(5 * SECOND);
    await scene.come('a', 5);
    expect(scene.inFlight).toHaveLength(1);
    expect(scene.deferred).toHaveLength(4);
    expect(scene.inFlight[0]?.ended({ signal: 'succeeded' })).toBe('closed');
    await scene.come('a');
    expect(scene.deferred).toHaveLength(4);
  });

  test('lets another pass where its probe left without an attempt, or was deferred from the queue', async () => {
    await fails(10);
    await scene.goOn(5 * SECOND);
    await scene.come('a');
    scene.inFlight.shift()?.leave();
    for (let n = 0; n < 8; n += 1) {
      await scene.come(`hangs${n}`);
      await scene.goOn(HOLD_MS);
    }
    await scene.come('a');
    expect(scene.beganOf('a')).toBe(11);
    await scene.goOn(5 * SECOND);
    expect(scene.why()).toEqual(['endpoint-failing']);
    await scene.end('unknown', 'hangs0');
    await scene.come('a');
    expect(scene.beganOf('a')).toBe(12);
  });

  test('for failures to connect is that of the host: another path makes no new one', async () => {
    for (let n = 0; n < 10; n += 1) await fails(1, `path${n}`, 'unreachable');
    await scene.come('another');
    expect(scene.why()).toEqual(['endpoint-failing']);
    await scene.come('2/another');
    expect(scene.began.at(-1)).toBe('2/another');
  });

  test('for the host defers what is queued at its other URLs', async () => {
    await scene.attempts('proven', 'succeeded', 3);
    await scene.come('proven', 7);
    for (let n = 0; n < 10; n += 1) await fails(1, `path${n}`, 'unreachable');
    expect(scene.deferred.map(({ key, why }) => [key, why])).toEqual(Array(3).fill(['proven', 'endpoint-failing']));
    expect(scene.inFlightOf('proven')).toBe(4);
  });

  test('is that of the host after two failures of TLS, though another URL of it answers between', async () => {
    await fails(1, 'path0', 'tls-failed');
    await fails(1, 'path1', 'failed');
    await fails(1, 'path2', 'tls-failed');
    await scene.come('another');
    expect(scene.why()).toEqual(['endpoint-failing']);
  });

  test('for the host is closed by any answer of it', async () => {
    for (let n = 0; n < 9; n += 1) await fails(1, `path${n}`, 'unreachable');
    await fails(1, 'path0', 'failed');
    await fails(9, 'path1', 'unreachable');
    await scene.come('another');
    expect(scene.deferred).toEqual([]);
  });

  test('counts an attempt that ends twice once', async () => {
    await fails(8);
    await scene.come('a');
    const [one] = scene.inFlight;
    const end = () => one?.ended({ signal: 'failed' });
    expect([end(), end(), end()]).toEqual([null, null, null]);
    one?.leave();
    await scene.goOn(HOLD_MS);
    await scene.come('a');
    expect(scene.deferred).toEqual([]);
  });
});

describe('a breaker is open for a tenth of the time away', () => {
  /** A delivery each second; all attempts fail. */
  const attemptsWithin = async (seconds: number) => {
    const before = scene.began.length;
    for (let n = 0; n < seconds; n += 1) {
      await scene.come('a');
      if (scene.inFlight.length > 0) await scene.end('failed');
      await scene.goOn(SECOND);
    }
    return scene.began.length - before;
  };

  test('as the scheduler knows it, 5 s at least and a minute at most', async () => {
    await fails(10);
    // After 5 s each.
    expect(await attemptsWithin(50)).toBe(9);
    await attemptsWithin(250);
    // After 30 to 40 s each.
    expect(await attemptsWithin(100)).toBe(3);
    await attemptsWithin(3_600);
    expect(await attemptsWithin(600)).toBe(10);
  });

  test('as the delivery knows it, where that is longer: a restart forgets nothing', async () => {
    await fails(9);
    await scene.come('a', 1, { awayMs: 300 * SECOND });
    await scene.end('failed');
    await scene.goOn(30 * SECOND - 1);
    await scene.come('a');
    expect(scene.why()).toEqual(['endpoint-failing']);
    await scene.goOn(1);
    await scene.come('a');
    expect(scene.inFlight).toHaveLength(1);
  });

  test('which begins again with a 2xx', async () => {
    await fails(10);
    await attemptsWithin(600);
    await scene.goOn(60 * SECOND);
    await scene.attempts('a', 'succeeded');
    await fails(10);
    await scene.goOn(5 * SECOND);
    await scene.come('a');
    expect(scene.inFlight).toHaveLength(1);
  });
});

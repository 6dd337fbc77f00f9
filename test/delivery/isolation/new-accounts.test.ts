/** What a new account is given room for, and gives back. */
import { HOLD_MS } from '../../../src/delivery/isolation/slots.js';
import { endpointOf, SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const SECOND = 1_000;
const MIB = 1024 * 1024;

let scene: SchedulerScene;

describe('what accounts got while they were new', () => {
  const MOST = 4_096;
  const known = (key: string) => scene.scheduler.endpoints.known(...endpointOf(key));

  /** First attempts of 200 accounts hang. */
  const hang = async (bytes = 0) => {
    scene = new SchedulerScene({ slots: 16 });
    for (let id = 100; id < 300; id += 1) {
      await scene.come(`${id}/hangs`, 10, { bytes });
      await scene.come(`${id}/hangs`, 1, { bytes, isUrgent: true });
      for (let n = 0; n < 29; n += 1) await scene.come(`${id}/hangs`, 1, { bytes, delivery: `${id} ${n}` });
    }
    while (scene.began.length < 200) await scene.goOn(HOLD_MS);
    await scene.goOn(SECOND);
  };

  test('is deferred once their first attempts hang, the last first', async () => {
    await hang();
    const [before, deferred] = [scene.scheduler.endpoints.waiting, scene.deferred.length];
    expect(before).toBeGreaterThan(5_000);
    await scene.goOn(10 * SECOND);
    const { waiting } = scene.scheduler.endpoints;
    expect(waiting).toBeLessThanOrEqual(MOST);
    expect(scene.deferred.length - deferred).toBe(before - waiting);
    expect(known('100/hangs')?.queue[0]?.goesFirst).toBe(true);
    const names = known('100/hangs')?.queue.map(({ queueing }) => queueing.delivery);
    expect(names).not.toContain('100 28');
  });

  test('is deferred or begun in the end, each delivery once', async () => {
    await hang();
    await scene.goOn(5 * 60 * SECOND);
    expect(scene.deferred.length + scene.began.length + scene.scheduler.endpoints.waiting).toBe(200 * 40);
  });

  test('is deferred by its bytes, too', async () => {
    await hang(20 * 1024);
    expect(scene.scheduler.endpoints.waitingBytes).toBeGreaterThan(20 * MIB);
    await scene.goOn(10 * SECOND);
    expect(scene.scheduler.endpoints.waitingBytes).toBeLessThanOrEqual(16 * MIB);
  });

  test('stays in the queue of a proven endpoint, though it is expensive', async () => {
    scene = new SchedulerScene({ slots: 16 });
    const expensive = async () => {
      await scene.come('9/expensive');
      scene.work(50);
      await scene.end('succeeded', '9/expensive');
      await scene.goOn(HOLD_MS);
    };
    for (let n = 0; n < 20; n += 1) await expensive();
    await scene.come('9/expensive', 300);
    const deferred = () => scene.deferred.filter(({ key }) => key === '9/expensive').length;
    const before = deferred();
    for (let id = 100; id < 300; id += 1) await scene.come(`${id}/hangs`, 40);
    await scene.goOn(10 * SECOND);
    expect(deferred()).toBe(before);
  });
});

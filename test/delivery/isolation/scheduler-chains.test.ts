import type { Acquired, Deferred } from '../../../src/delivery/isolation/endpoint.js';
import { testScheduler } from '../../support/clocks/test-scheduler.js';
import { SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const URL = 'https://shop.example.com/hook';
const SECOND = 1_000;

test('a later chain takes the place of an earlier one in the queue, also where the queue is full', async () => {
  const scheduler = testScheduler();
  const come = (delivery: string, chain: number) => scheduler.acquire(42, URL, { bytes: 10, delivery, chain });
  const leave = (acquisition: Acquired | Deferred) => acquisition.kind === 'acquired' && acquisition.leave();
  const first = await come('a', 0);
  const [earlier, other] = [come('b', 0), come('c', 0)];
  const full = Array.from({ length: 3_000 }, (_, n) => come(`full ${n}`, 0));
  expect(await full.at(-1)).toMatchObject({ kind: 'deferred', why: 'queue' });
  const { waiting, waitingBytes } = scheduler.endpoints;
  const later = come('b', 3);
  expect(await earlier).toMatchObject({ kind: 'deferred', why: 'queue' });
  expect([scheduler.endpoints.waiting, scheduler.endpoints.waitingBytes]).toEqual([waiting, waitingBytes]);
  leave(first);
  leave(await later);
  expect(await other).toMatchObject({ kind: 'acquired' });
  scheduler.close();
});

test('the same chain, an earlier one, and one of another delivery go to the end of the queue', async () => {
  const scene = new SchedulerScene();
  await scene.come('a', 1, { delivery: 'in flight' });
  for (const chain of [2, 2, 1]) await scene.come('a', 1, { delivery: 'x', chain });
  await scene.come('a', 1, { delivery: 'y', chain: 3 });
  expect(scene.deferred).toEqual([]);
  expect(scene.scheduler.endpoints.waiting).toBe(4);
});

test('a later chain is the probe where the earlier one was', async () => {
  const scene = new SchedulerScene();
  await scene.attempts('a', 'failed', 10);
  for (let n = 0; n < 8; n += 1) {
    await scene.come(`hangs${n}`);
    await scene.goOn(50);
  }
  await scene.goOn(5 * SECOND);
  await scene.come('a', 1, { bytes: 10, delivery: 'x', chain: 0 });
  await scene.come('a', 1, { bytes: 20, delivery: 'x', chain: 1 });
  expect(scene.scheduler.endpoints.waitingBytes).toBe(20);
  await scene.come('a', 1, { delivery: 'y' });
  // The earlier chain, and what is no probe.
  expect(scene.why()).toEqual(['endpoint-failing', 'endpoint-failing']);
  await scene.end('unknown', 'hangs0');
  expect(scene.inFlightOf('a')).toBe(1);
  await scene.end('succeeded', 'a');
  await scene.come('a', 1);
  expect(scene.deferred).toHaveLength(2);
});

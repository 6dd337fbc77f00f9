/** A standstill of the process shows nothing about the endpoints whose attempts it interrupts. */
import { endpointOf, SchedulerScene } from '../../support/scenes/scheduler-scene.js';

const MS = 10;
const SECOND = 1_000;

let pausedMs: number;
let scene: SchedulerScene;
beforeEach(async () => {
  pausedMs = 0;
  const clock = {
    now: () => scene.clock.now() + pausedMs,
    after: (ms: number, passed: () => void) => scene.clock.after(ms, passed),
    close: () => undefined,
  };
  scene = new SchedulerScene({ clock });
  await concurrent(1);
  await concurrent(15);
});

/** Attempts of 10 ms, and of what happens meanwhile. */
async function concurrent(count: number, meanwhile = async () => {}): Promise<void> {
  await scene.come('a', count);
  await scene.goOn(MS);
  await meanwhile();
  while (scene.inFlight.length > 0) await scene.end();
}

const meanMs = () => scene.scheduler.endpoints.of(...endpointOf('a')).pace.meanMs;

test('is not counted for attempts that were in flight, if their responses are read before timers pass', async () => {
  await concurrent(16, async () => {
    pausedMs += 8 * SECOND;
  });
  expect(meanMs()).toBeLessThan(10 * MS);
});

test('is not counted if timers pass before the responses are read', async () => {
  await concurrent(16, async () => {
    pausedMs += 8 * SECOND;
    await scene.goOn(50);
  });
  expect(meanMs()).toBeLessThan(10 * MS);
});

test('is counted once for each attempt: what begins later takes as long as it takes', async () => {
  pausedMs += 8 * SECOND;
  await concurrent(16, () => scene.goOn(200));
  expect(meanMs()).toBeGreaterThan(100);
});

test('does not hide that an endpoint takes as long while the process goes on', async () => {
  await concurrent(16, () => scene.goOn(8 * SECOND));
  expect(meanMs()).toBeGreaterThan(SECOND);
});

import type { Service } from '../support/clients/service.js';
import { eventually } from '../support/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';
import { inFull, testInFull } from '../support/thorough.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];
/** For kill -9, and for SIGTERM. */
const [KILLED_EVENTS, ENDED_EVENTS] = inFull([300, 200], [150, 100]);
const PATIENCE_MS = 40_000;

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  async function burst(count: number): Promise<Service> {
    scene = await FaultScene.open(backbone);
    const service = await scene.serve();
    await scene.account(service, ACCOUNT, scene.urls(...PATHS));
    await scene.publish(paymentEvents(ACCOUNT, count), scene.urls(...PATHS));
    return service;
  }

  test(`kill -9, start: each of ${KILLED_EVENTS} events reaches each of 3 URLs, duplicates with their webhook-id`, async () => {
    const service = await burst(KILLED_EVENTS);
    await eventually(() => scene.receiver.requests.length > 100);
    await service.stop('SIGKILL');
    await scene.serve();
    await scene.nothingLost(PATIENCE_MS);
    const verdict = scene.oracle.report(`${backbone.name}, kill -9`);
    expect(verdict).toMatchObject({ pairs: KILLED_EVENTS * PATHS.length, lost: 0, differing: 0, unexpected: 0 });
  });

  test('SIGTERM: code 0, and after the next start nothing that was done is sent again', async () => {
    const service = await burst(ENDED_EVENTS);
    await eventually(() => scene.receiver.requests.length > 50);
    expect(await service.stop('SIGTERM')).toBe(0);
    await scene.serve();
    await scene.nothingLost(PATIENCE_MS);
    const pairs = ENDED_EVENTS * PATHS.length;
    const verdict = scene.oracle.report(`${backbone.name}, SIGTERM`);
    expect(verdict).toEqual({ pairs, lost: 0, sentTwice: 0, differing: 0, unexpected: 0 });
    expect(scene.receiver.requests).toHaveLength(pairs);
  });

  testInFull('events published while it is down are delivered when it is up again', async () => {
    const service = await burst(1);
    await scene.nothingLost(PATIENCE_MS);
    expect(await service.stop('SIGTERM')).toBe(0);
    await scene.publish(paymentEvents(ACCOUNT, 20, 'while-down-'), scene.urls(...PATHS));
    await scene.serve();
    await scene.nothingLost(PATIENCE_MS);
    const verdict = scene.oracle.report(`${backbone.name}, down`);
    expect(verdict).toMatchObject({ pairs: 21 * PATHS.length, lost: 0, sentTwice: 0 });
  });
});

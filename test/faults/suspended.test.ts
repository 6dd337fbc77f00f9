/**
 * One of two dispatchers is suspended for longer than its session in the consumer group: the other takes over its partitions. When it
 * resumes, with a full queue of deliveries that the other has made meanwhile, it starts none of them.
 */
import { isStarved } from '../runner/patience.js';
import { elsewhere } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones, ON_SERVERS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';
import { resume, suspend } from '../support/scenes/suspended-service.js';

const ACCOUNTS = [7, 8, 9, 10, 11, 12];
const EVENTS = 150;
const LATER = 20;
const ENDPOINT_CONCURRENCY = 16;
const RESPONSE_MS = 100;
const SESSION_MS = 6_000;
const PATIENCE = { timeout: 90_000 };

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test('suspended past its session: another dispatcher takes over, and it repeats nothing when it resumes', async () => {
    const settings = { ENDPOINT_CONCURRENCY: String(ENDPOINT_CONCURRENCY) };
    scene = await FaultScene.open(backbone, { respond: slowly, settings });
    const api = await scene.serve(scene.settings, ['--roles', 'api']);
    for (const id of ACCOUNTS) await scene.account(api, id, scene.urls(`/${id}`));
    const publish = (count: number, prefix: string) =>
      Promise.all(
        ACCOUNTS.map((id) => scene.publish(paymentEvents(id, count, `${prefix}${id}-`), scene.urls(`/${id}`))),
      );
    const first = await scene.serve(elsewhere(scene.settings), ['--roles', 'dispatcher']);
    await scene.serve(elsewhere(scene.settings), ['--roles', 'dispatcher']);
    const { taken } = scene.receiver;
    await publish(EVENTS, 'first-');
    await eventually(() => taken.length > EVENTS, PATIENCE);

    await suspend(first, scene.settings);
    const from = performance.now();
    try {
      // The other one delivers all that the suspended one had not sent.
      await eventually(() => performance.now() - from > 2 * SESSION_MS, PATIENCE);
      await scene.nothingLost(PATIENCE.timeout);
    } finally {
      resume(first);
    }
    await publish(LATER, 'later-');
    await scene.nothingLost(PATIENCE.timeout);

    const verdict = scene.oracle.report(`${backbone.name}, a dispatcher is suspended past its session`);
    const pairs = ACCOUNTS.length * (EVENTS + LATER);
    expect(verdict).toMatchObject({ pairs, lost: 0, differing: 0, unexpected: 0 });
    // On a starved machine more responses wait for their commit.
    if (isStarved()) return;
    // On the wire at the suspension, and answered since the last commit, a quarter of a second before.
    expect(verdict.sentTwice).toBeLessThanOrEqual(ACCOUNTS.length * ENDPOINT_CONCURRENCY * 4);
  });
}, ON_SERVERS);

async function slowly(): Promise<{ status: number }> {
  await new Promise((resolve) => setTimeout(resolve, RESPONSE_MS));
  return { status: 200 };
}

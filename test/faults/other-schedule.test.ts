/** A dispatcher with another schedule is tried beside the others, and ended in order: what waits in its tier is delivered. */
import { describeBackbones, ON_SERVERS } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { FaultScene } from '../support/fault-scene.js';
import { elsewhere } from '../support/service.js';
import { paymentEvents } from '../support/story.js';
import { testInFull } from '../support/thorough.js';

const ACCOUNTS = [1, 2, 3, 4, 5, 6];
const EVENTS = 10;
/** Of a dispatcher: payments, retries, notices. */
const CONSUMERS = 3;
/** The canary is gone before anything in its tier is due. */
const TIER = '20s';
/** As many delays as the others have: what comes back to the canary before it stops is not exhausted there. */
const CANARY = { RETRY_SCHEDULE: Array(7).fill(TIER).join() };
const PATIENCE_MS = 120_000;
const PATIENCE = { timeout: PATIENCE_MS };

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene.close());

  testInFull('what a canary with another schedule leaves in its tier is delivered', async () => {
    let status = 503;
    const settings = { RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1h' };
    scene = await FaultScene.open(backbone, { respond: () => ({ status }), settings });
    const service = await scene.serve();
    for (const id of ACCOUNTS) await scene.account(service, id, scene.urls(`/${id}`));
    const canary = await scene.serve(elsewhere({ ...scene.settings, ...CANARY }), ['--roles', 'dispatcher']);
    await eventually(() => canary.log().match(/partitions were assigned/g)?.length === CONSUMERS, PATIENCE);
    await Promise.all(
      ACCOUNTS.map((id) => scene.publish(paymentEvents(id, EVENTS, `of-${id}-`), scene.urls(`/${id}`))),
    );
    await eventually(async () => (await inTier(scene, TIER)) > 0, PATIENCE);
    expect(await canary.stop('SIGTERM')).toBe(0);
    status = 200;
    await scene.nothingLost(PATIENCE_MS);
    const verdict = scene.oracle.report(`${backbone.name}, a canary with another schedule is ended`);
    expect(verdict).toMatchObject({ pairs: ACCOUNTS.length * EVENTS, lost: 0, differing: 0, unexpected: 0 });
    expect(service.log()).toContain('reading retry tiers of another schedule');
  });
}, ON_SERVERS);

function inTier(scene: FaultScene, text: string): Promise<number> {
  return scene.withBroker(async ({ broker }, topics) => {
    const extents = await broker.extent(topics.tier({ text, ms: 0 }));
    return [...extents.values()].reduce((sum, { next }) => sum + next, 0);
  });
}

/**
 * The process is stopped under load for longer than an attempt's timeout (SIGSTOP; a virtual machine that is moved).
 * Deliveries answered meanwhile are not sent again, those whose receiver gave up are, and events published meanwhile arrive.
 */
import { isStarved } from '../runner/patience.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';
import { resume, suspend } from '../support/scenes/suspended-service.js';
import type { Reply } from '../support/servers/receiver.js';

const ACCOUNT = 7;
const PATHS = ['/one', '/two', '/three'];
/** Few enough to be in progress at once, after the URLs' windows have grown. */
const ASKED = 15;
const BEFORE = 30;
const MEANWHILE = 150;
/** Well below Kafka's session timeout: the records of an expired member are redelivered. */
const TIMEOUT_MS = 3_000;
/** Its last delay is longer than a starved machine holds up a delivery: with 2 s in all, a lifetime was over after one attempt. */
const RETRY_SCHEDULE = '200ms,400ms,800ms,2m';
const PATIENCE_MS = 40_000;
/** How what was sent before the stop ends meanwhile. */
const HELD: [string, Reply][] = [
  ['', { status: 200 }],
  [', and its receivers give up', 'reset'],
];

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test.each(HELD)('stopped for longer than an attempt may take%s', async (and, held) => {
    let answer: () => void = () => undefined;
    const answering = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let holdsBack = false;
    const ok = { status: 200 };
    const respond = () => (holdsBack ? answering.then(() => held) : ok);
    const settings = { DELIVERY_TIMEOUT: `${TIMEOUT_MS / 1_000}s`, RETRY_SCHEDULE };
    scene = await FaultScene.open(backbone, { respond, settings });
    const service = await scene.serve();
    const urls = scene.urls(...PATHS);
    await scene.account(service, ACCOUNT, urls);
    await scene.publish(paymentEvents(ACCOUNT, BEFORE, 'before'), urls);
    await eventually(() => scene.receiver.requests.length >= BEFORE * PATHS.length, { timeout: PATIENCE_MS });
    holdsBack = true;
    await scene.publish(paymentEvents(ACCOUNT, ASKED, 'asked'), urls);
    const asked = () => scene.receiver.requests.length - BEFORE * PATHS.length;
    // On a starved machine the first attempts may time out before the last ones begin: then these wait for their URLs to recover.
    await eventually(() => asked() >= ASKED * PATHS.length || (isStarved() && asked() > 0), { timeout: PATIENCE_MS });

    const from = performance.now();
    await suspend(service, scene.settings);
    try {
      holdsBack = false;
      answer();
      await scene.publish(paymentEvents(ACCOUNT, MEANWHILE, 'meanwhile'), urls);
      await eventually(() => performance.now() - from > TIMEOUT_MS + 500, { timeout: PATIENCE_MS });
    } finally {
      resume(service);
    }

    await scene.nothingLost(PATIENCE_MS);
    const pairs = (BEFORE + ASKED + MEANWHILE) * PATHS.length;
    const delivered = await scene.allDelivered(ACCOUNT, pairs, PATIENCE_MS);
    const verdict = scene.oracle.report(`${backbone.name}, stopped for longer than an attempt may take${and}`);
    expect(verdict).toMatchObject({ pairs, lost: 0, differing: 0, unexpected: 0 });
    // A busy machine may itself hold up an attempt for its timeout, and a member for its session.
    if (isStarved()) return;
    expect(verdict.sentTwice).toBe(0);
    const most = held === 'reset' ? 2 : 1;
    expect(delivered.every(({ attempts }) => attempts.length <= most)).toBe(true);
  });
});

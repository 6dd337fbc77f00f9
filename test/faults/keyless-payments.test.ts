/**
 * Payments without a key, two dispatchers, and each retry record twice, as after a crash between a record and its commit:
 * no delivery is retried by two chains at once.
 */
import type { NewRecord } from '../../src/ports/broker.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import { elsewhere } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones, ON_SERVERS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 7;
/** Each has an attempt for each delay, and the first. Too few failures in a row to open a breaker. */
const EVENTS = 9;
const DELAYS = ['3s', '300ms', '400ms'];
const ATTEMPTS = 1 + DELAYS.length;
const PATIENCE = { timeout: 40_000 };

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test('a retry record that its tier has twice starts no second chain', async () => {
    scene = await FaultScene.open(backbone, {
      respond: () => ({ status: 503 }),
      settings: { RETRY_SCHEDULE: DELAYS.join() },
    });
    const service = await scene.serve();
    await scene.serve(elsewhere(scene.settings), ['--roles', 'dispatcher']);
    const urls = Array.from({ length: EVENTS }, (_, n) => `${scene.receiver.url}/${n}`);
    await Promise.all(urls.map((url, n) => scene.account(service, ACCOUNT + n, [url])));
    await scene.withBroker(async ({ broker }, topics) => {
      const payments = urls.map((_, n) => Buffer.from(paymentEvents(ACCOUNT + n, 1).trim()));
      await broker.publish(
        topics.payments[0],
        payments.map((value) => ({ key: null, value, headers: [] })),
      );
      const tier = topics.tiers([{ text: DELAYS[0] ?? '', ms: 0 }]).retry[0]?.topic ?? '';
      const records = await eventually(async () => {
        const found: NewRecord[] = [];
        for await (const record of topicRecords(broker, tier)) found.push(record);
        return found.length === EVENTS && found;
      }, PATIENCE);
      await broker.publish(
        tier,
        records.map(({ key, value, headers }) => ({ key, value, headers })),
      );
      await eventually(async () => {
        let letters = 0;
        for await (const _ of topicRecords(broker, topics.deadLetters)) letters += 1;
        return letters >= EVENTS;
      }, PATIENCE);
    });
    const attempts = urls.map((_, n) => scene.receiver.requests.filter(({ path }) => path === `/${n}`).length);
    expect(attempts).toEqual(urls.map(() => ATTEMPTS));
  });
}, ON_SERVERS);

/**
 * kill -9 while deliveries wait in bundles, at each stage of an outage: as they are gathered, as a bundle returns to a URL that
 * still fails, and as it is unpacked at one that has recovered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { membersOf } from '../../src/delivery/retry/bundle.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import { readConfig } from '../../src/settings/read-config.js';
import { eventually } from '../support/clocks/eventually.js';
import { describeBackbones, ENDS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 7;
const EVENTS = 400;
/** Before the first kill, which may repeat all of them. */
const GATHERED = EVENTS / 4;
const PATIENCE = { timeout: 120_000 };
/** Of the receiver that has recovered: at 16 at a time, it takes the backlog in 2.5 s, ten times what a kill may repeat. */
const ANSWERS_AFTER_MS = 100;
/** What is sent again after a kill: what was in progress, and the last quarter of a second. The rest is for a busy machine. */
const MAX_TWICE = EVENTS / 2;

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  /** Deliveries in the largest record of a tier. */
  const largestBundle = () =>
    scene.withBroker(async ({ broker }, topics) => {
      let largest = 0;
      for (const topic of (await broker.listTopics()).filter(topics.isTier))
        for await (const record of topicRecords(broker, topic))
          largest = Math.max(largest, membersOf(record)?.length ?? 0);
      return largest;
    });

  /** Whether no payment would be taken again after a kill. */
  const allCommitted = () =>
    scene.withBroker(async ({ broker }, { payments: [topic] }) => {
      const { KAFKA_GROUP: group } = readConfig(scene.settings);
      const [extents, committed] = [await broker.extent(topic), await broker.committed(group, topic)];
      return [...extents].every(([partition, { next }]) => (committed.get(partition) ?? 0) === next);
    });

  test('no delivery in a bundle is lost, and few are sent twice', async () => {
    let fails = true;
    scene = await FaultScene.open(backbone, {
      respond: async () => {
        if (fails) return { status: 500 };
        await delay(ANSWERS_AFTER_MS);
        return { status: 200 };
      },
      // A failed attempt returns soon: here deferrals matter.
      settings: {
        RETRY_SCHEDULE: '5s,5s,5s,5s,5s,5s,5s,5s,5s,5s,5s,5s,10m',
        KAFKA_PARTITIONS: '2',
        ENDPOINT_CONCURRENCY: '16',
      },
    });
    const { receiver } = scene;
    const urls = scene.urls('/down');
    let service = await scene.serve();
    await scene.account(service, ACCOUNT, urls);
    await scene.publish(paymentEvents(ACCOUNT, 20, 'first-'), urls);
    // Enough for its breaker to open.
    await eventually(() => receiver.requests.length >= 10, PATIENCE);
    await scene.publish(paymentEvents(ACCOUNT, GATHERED, 'gathered-'), urls);
    const published = scene.publish(paymentEvents(ACCOUNT, EVENTS - GATHERED, 'outage-'), urls);
    await service.stop('SIGKILL');
    await published;
    service = await scene.serve();
    // With its commit: within a quarter of a second of the bundle, a kill may repeat all that is in it.
    await eventually(async () => (await largestBundle()) > 20 && (await allCommitted()), PATIENCE);
    await service.stop('SIGKILL');
    service = await scene.serve();
    fails = false;
    await eventually(() => receiver.taken.length > EVENTS / 4, PATIENCE);
    await service.stop('SIGKILL');
    await scene.serve();
    await scene.nothingLost(PATIENCE.timeout);
    const verdict = scene.oracle.verdict();
    expect(verdict).toMatchObject({ pairs: EVENTS + 20, lost: 0, differing: 0, unexpected: 0 });
    expect(verdict.sentTwice).toBeLessThan(MAX_TWICE);
    scene.oracle.report(`${backbone.name}, killed with deliveries in bundles`);
  });
}, ENDS);

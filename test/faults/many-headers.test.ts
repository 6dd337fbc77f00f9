/** A producer's mistake: payment records with 20,000 headers each become dead letters and delay nothing else. */
import type { NewRecord } from '../../src/ports/broker.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import { peakMemoryMiB } from '../support/clients/process-stats.js';
import { eventually } from '../support/clocks/eventually.js';
import { header } from '../support/generators/delivery-samples.js';
import { describeBackbones } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { paymentEvents } from '../support/scenes/story.js';

const ACCOUNT = 7;
const RECORDS = 40;
const HEADERS = Array.from({ length: 20_000 }, (_, n) => header(`h${n}`, String(n)));
const MOST_MIB = 350;

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene?.close());

  test('payments behind records with 20,000 headers are delivered, within the memory of a service', async () => {
    scene = await FaultScene.open(backbone);
    const service = await scene.serve();
    const urls = scene.urls('/one');
    await scene.account(service, ACCOUNT, urls);
    const record: NewRecord = {
      key: Buffer.from(String(ACCOUNT)),
      value: Buffer.from(paymentEvents(ACCOUNT, 1, 'headed-').trim()),
      headers: HEADERS,
    };
    await scene.withBroker(async ({ broker }, topics) => {
      for (let n = 0; n < RECORDS; n += 1) await broker.publish(topics.payments[0], [record]);
    });
    await scene.publish(paymentEvents(ACCOUNT, 20, 'behind-'), urls);
    await scene.nothingLost(60_000);
    await eventually(async () => (await deadLetters()) === RECORDS);
    expect(peakMemoryMiB(service.pid)).toBeLessThan(MOST_MIB);
  });

  async function deadLetters(): Promise<number> {
    let count = 0;
    await scene.withBroker(async ({ broker }, topics) => {
      for await (const _ of topicRecords(broker, topics.deadLetters)) count += 1;
    });
    return count;
  }
});

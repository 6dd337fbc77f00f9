import { toRetryRecord } from '../../../src/delivery/delivery.js';
import { TierDiscovery } from '../../../src/delivery/retry/tiers.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import { BrokerUnavailable } from '../../../src/ports/broker.js';
import { deliveryTo, NOW } from '../../support/delivery-samples.js';
import { RecordingBroker } from '../../support/recording-broker.js';
import { recordingLogger } from '../../support/recording-logger.js';

const topics = topicsOf(['payment-events'], 'a.');
const OWN = 'a.webhooks.retry.5s';
const FOREIGN = 'a.webhooks.retry.2h';

let broker: RecordingBroker;
let discovery: TierDiscovery;
let subscribed: (readonly string[])[];
let refusal: Error | null;
beforeEach(async () => {
  broker = new RecordingBroker();
  subscribed = [];
  refusal = null;
  discovery = new TierDiscovery({ broker, topics, group: 'g', logger: recordingLogger() }, [OWN]);
  const record = toRetryRecord(deliveryTo(1), NOW);
  for (const topic of [OWN, 'webhooks.retry.1s', 'a.webhooks.retry.notes']) await broker.publish(topic, [record]);
});

const appears = () =>
  broker.publish(
    FOREIGN,
    [1, 2].map((id) => toRetryRecord(deliveryTo(id), NOW)),
  );
const look = () =>
  discovery.look({
    subscribe: async (found) => {
      subscribed.push(found);
      if (refusal) throw refusal;
    },
  });

describe('a dispatcher that looks for tiers', () => {
  test('subscribes to none but those of its prefix', async () => {
    await look();
    expect(subscribed).toEqual([]);
    await appears();
    await look();
    expect(subscribed).toEqual([[FOREIGN]]);
    expect(discovery.unread).toEqual(
      new Map([
        [OWN, 0],
        [FOREIGN, 0],
      ]),
    );
  });

  test('counts the records of those that it fails to subscribe to, and tries again', async () => {
    await appears();
    refusal = new BrokerUnavailable('not now');
    await expect(look()).rejects.toThrow('not now');
    expect(discovery.unread).toEqual(
      new Map([
        [OWN, 0],
        [FOREIGN, 2],
      ]),
    );
    refusal = null;
    await look();
    expect(subscribed).toEqual([[FOREIGN], [FOREIGN]]);
    expect(discovery.unread).toEqual(
      new Map([
        [OWN, 0],
        [FOREIGN, 0],
      ]),
    );
  });
});

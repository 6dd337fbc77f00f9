import { toRetryRecord } from '../../src/delivery/delivery.js';
import { partitionChecks } from '../../src/doctor/broker-checks.js';
import { type Broker, NO_TIME, type ReceivedRecord } from '../../src/ports/broker.js';
import { readConfig } from '../../src/settings/read-config.js';
import { deliveryTo, NOW } from '../support/delivery-samples.js';
import { RecordingBroker } from '../support/recording-broker.js';

const MINUTE_MS = 60_000;
const TIER = 'webhooks.retry.5m';

class WaitingBroker extends RecordingBroker {
  constructor(readonly publishedAt: number) {
    super();
  }

  override async committed() {
    return new Map([[0, 0]]);
  }

  override of(topic: string): ReceivedRecord[] {
    return super.of(topic).map((record) => ({ ...record, timestamp: this.publishedAt }));
  }
}

async function findings(topic: string, due: number, minutesOld: number | null): Promise<string[]> {
  const broker = new WaitingBroker(minutesOld === null ? NO_TIME : NOW - minutesOld * MINUTE_MS);
  await broker.publish(topic, [toRetryRecord(deliveryTo(1), due)]);
  const checks = partitionChecks(
    readConfig({}),
    async () => broker as Broker,
    () => NOW,
  );
  const found = await Promise.all(checks.map(({ run }) => run()));
  return found.flat().map(({ verdict, says }) => `${verdict} ${says}`);
}

const READ = ['ok no partition waits for its broker, and no retry tier is without a reader'];
const unread = (topic: string, minutes: number) => [
  `warn ${topic} has a record that has been due for ${minutes} min: no dispatcher reads it`,
];

test.each([
  ['a record that is not due yet', TIER, NOW + MINUTE_MS, 4, READ],
  ['a record that has been due for a minute', TIER, NOW - MINUTE_MS, 4, READ],
  ['a record that has been due for three minutes', TIER, NOW - 3 * MINUTE_MS, 4, unread(TIER, 3)],
  ['a tier of another schedule', 'webhooks.retry.7m', NOW - 3 * MINUTE_MS, 4, unread('webhooks.retry.7m', 3)],
  ['a due time beyond its tier, written by a fast clock', TIER, NOW + 9_000 * MINUTE_MS, 10, unread(TIER, 4)],
  ['another installation’s tier', `b.${TIER}`, NOW - 3 * MINUTE_MS, 4, READ],
  ['a record without a time that is not due yet', TIER, NOW + MINUTE_MS, null, READ],
  ['a record without a time that has been due for three minutes', TIER, NOW - 3 * MINUTE_MS, null, unread(TIER, 3)],
  ['a request of a minute ago', 'webhooks.requests', 0, 1, READ],
  ['a request of three minutes ago', 'webhooks.requests', 0, 3, unread('webhooks.requests', 3)],
  ['a topic that is no tier', 'webhooks.retry.notes', NOW - 3 * MINUTE_MS, 4, READ],
])('%s', async (_, topic, due, minutesOld, expected) => {
  expect(await findings(topic, due, minutesOld)).toEqual(expected);
});

test.each([
  [
    'that stays open',
    [1, 1],
    ['warn partition 0 of payment-events holds back 2 records from offset 1 on, for an open transaction'],
  ],
  ['of many that each end soon', [1, 2], READ],
  ['that ends meanwhile', [1, undefined], READ],
])('a transaction %s', async (_, stables, expected) => {
  const broker = new RecordingBroker();
  const seen = [...stables];
  broker.extent = async () => {
    const stable = seen.shift();
    return new Map([[0, { first: 0, next: 3, ...(stable !== undefined && { stable }) }]]);
  };
  const checks = partitionChecks(
    readConfig({}),
    async () => broker as Broker,
    () => NOW,
  );
  const found = (await Promise.all(checks.map(({ run }) => run()))).flat();
  expect(found.map(({ verdict, says }) => `${verdict} ${says}`)).toEqual(expected);
});

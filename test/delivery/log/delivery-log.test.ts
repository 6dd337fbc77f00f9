import type { Delivery } from '../../../src/delivery/delivery.js';
import { deliveriesOf } from '../../../src/delivery/log/delivery-log.js';
import { logEntry, loggedAttempt } from '../../../src/delivery/log/log-record.js';
import type { NewRecord } from '../../../src/ports/broker.js';
import type { Outcome } from '../../../src/ports/delivery-order.js';
import type { DeliveryLogEntry } from '../../../src/ports/log-entry.js';
import { DELIVERED, deliveryTo, failedWith, NOW, received } from '../../support/generators/delivery-samples.js';
import { toLogRecord } from '../../support/generators/log-records.js';
import { scratchInMemory } from '../../support/scenes/scratch-in-memory.js';

async function* topic(records: readonly NewRecord[]) {
  for (const [offset, record] of records.entries()) yield received(record, { topic: 'webhooks.deliveries', offset });
}

const list = (...entries: readonly DeliveryLogEntry[]) =>
  listed(entries.map((entry) => toLogRecord({ deliveries: [entry] })));
const listed = async (log: readonly NewRecord[], requests: readonly NewRecord[] = []) => [
  ...(await deliveriesOf(42, { log: topic(log), requests: topic(requests) }, scratchInMemory())),
];

describe('an entry of the deliveries topic', () => {
  test('holds one attempt, in the shape that readers rely on', () => {
    const attempt = loggedAttempt(failedWith(503), 4);
    const payment = 'payment-events/0/7@1';
    const entry = logEntry(
      deliveryTo(9, { id: 'msg_1', payment, chain: 3, attempts: 1 }),
      'retrying',
      attempt,
      NOW + 5_000,
    );
    expect(JSON.stringify(entry)).toBe(
      '{"id":"msg_1","eventId":"pay-1","eventType":"cash_in","accountId":42,"webhookId":9,"webhookEvent":"added 9",' +
        '"payment":"payment-events/0/7@1","outcome":"retrying","chain":3,"attempts":1,' +
        '"attempt":{"at":"2026-11-21T09:00:00.000Z","status":503,"error":null,"durationMs":12,"version":4},' +
        '"nextAttemptAt":"2026-11-21T09:00:05.000Z","step":0}',
    );
  });
});

describe('the deliveries of an account', () => {
  const at = (offset: number) => `payment-events/0/${offset}@${NOW + offset}`;
  const first = deliveryTo(1, { id: 'msg_a', payment: at(1) });
  const second = deliveryTo(2, { id: 'msg_b', payment: at(2) });
  const publishedBefore = { ...first, payment: at(0) };
  const retrying = (delivery: Delivery, status: number) =>
    logEntry(delivery, 'retrying', loggedAttempt(failedWith(status), 1), NOW + 5_000);
  const ended = (delivery: Delivery, outcome: Outcome = 'delivered') =>
    logEntry(delivery, outcome, loggedAttempt(DELIVERED, 2), null);

  test('have all their attempts in order, and stand where their last record says', async () => {
    const [delivery, ...others] = await list(retrying(first, 500), retrying(first, 503), ended(first));
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ id: 'msg_a', webhookId: 1, outcome: 'delivered', nextAttemptAt: null });
    expect(delivery?.attempts.map(({ status, version }) => [status, version])).toEqual([
      [500, 1],
      [503, 1],
      [200, 2],
    ]);
    expect(delivery).not.toHaveProperty('attempt');
  });

  test('are one for each publication, newest first, whatever the order of their entries', async () => {
    for (const entries of [
      [retrying(first, 500), ended(second), ended(first), ended(publishedBefore)],
      [ended(publishedBefore), ended(second), ended(first), retrying(first, 500)],
    ]) {
      expect((await list(...entries)).map(({ payment }) => payment)).toEqual([at(2), at(1), at(0)]);
    }
  });

  test('are listed whatever else the topic holds', async () => {
    const rubbish = { key: null, value: Buffer.from('not JSON'), headers: [] };
    const own = [ended(first), ended(second)].map((entry) => toLogRecord({ deliveries: [entry] }));
    expect(await listed([rubbish, ...own, { ...rubbish, value: null }])).toHaveLength(2);
  });
});

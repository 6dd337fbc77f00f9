/** The audit of one day, in which accounts 42 (webhooks 1 and 2) and 43 (webhook 3) have payments. */
import type { Counts } from '../../../src/audit/report.js';
import type { PaymentEvent } from '../../../src/payments/payment-event.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import type { WebhookEvent } from '../../../src/webhooks/events.js';
import { AT, added, registered } from '../generators/webhook-samples.js';
import { AuditFixture, type Placed, TOPICS } from './audit-fixture.js';

export const FROM = Date.parse('2026-11-21T00:00:00.000Z');
export const TO = Date.parse('2026-11-22T00:00:00.000Z');
export const NOON = Date.parse('2026-11-21T12:00:00.000Z');
export const TIER = 'test.webhooks.retry.5s';
export const [PAYMENTS] = TOPICS.payments;
export const ZERO: Counts = {
  ...{ records: 0, events: 0, invalid: 0, unreadable: 0, notDue: 0, deliveries: 0, delivered: 0 },
  ...{ exhausted: 0, cancelled: 0, retrying: {}, waiting: 0, unanswered: 0, unexpected: 0 },
};
/** Of account 43: webhook 3 is there from revision 1 on. */
export const THREE = { routed: 1, confirmed: 1, webhooks: [3] };

export const iso = (at: number) => new Date(at).toISOString();
export const pay = (id: string, accountId = 42): PaymentEvent => ({ id, type: 'cash_in', accountId });
export const removed = (webhookId: number): WebhookEvent => ({
  type: 'WebhookRemoved',
  data: { webhookId, removedAt: AT },
});

export class AuditedDay extends AuditFixture {
  constructor() {
    super();
    this.happened(42, registered(), added(1), added(2));
    this.happened(43, registered(43), added(3));
  }

  /** A payment of account 43 that was routed to webhook 3. */
  paid(id: string, placed: Placed = { at: NOON }, topic: string = PAYMENTS): ReceivedRecord {
    const record = this.published(pay(id, 43), placed, topic);
    this.routed(record, 43, THREE);
    return record;
  }

  /** What the day's report says; its counts agree with its lists. */
  async told(account: number | null = null) {
    const report = await this.audit({ from: FROM, to: TO, account });
    const { lost } = report;
    const counts = report.counts;
    const lists = {
      open: [...report.found('open')],
      unanswered: [...report.found('unanswered')],
      unexpected: [...report.found('unexpected')],
    };
    expect(lists.unanswered).toHaveLength(counts.unanswered);
    expect(lists.unexpected).toHaveLength(counts.unexpected);
    return { counts, lost, ...lists };
  }
}

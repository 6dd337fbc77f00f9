/** Sample payment records, deliveries and attempt results. */
import type { AttemptResult } from '../../../src/delivery/attempt/attempt.js';
import { type Delivery, newDelivery } from '../../../src/delivery/delivery.js';
import type { NewRecord, ReceivedRecord, RecordHeader } from '../../../src/ports/broker.js';

/** ms since the epoch: the time of the fixtures' clock. */
export const NOW = Date.parse('2026-11-21T09:00:00.000Z');
export const ACCOUNT = 42;
export const EVENT = { id: 'pay-1', type: 'cash_in', accountId: ACCOUNT } as const;

export function header(name: string, value: string): RecordHeader {
  return [name, Buffer.from(value)];
}

/** The record of EVENT, with a header of the payment system. */
export function paymentRecord(changes: Partial<NewRecord> = {}): NewRecord {
  const value = Buffer.from(JSON.stringify({ ...EVENT, data: { amount: '10.00' } }));
  return { key: Buffer.from(String(ACCOUNT)), value, headers: [header('traceparent', '00-ab-cd-01')], ...changes };
}

export function received(record: NewRecord, changes: Partial<ReceivedRecord> = {}): ReceivedRecord {
  return { ...record, topic: 'payment-events', partition: 0, offset: 7, timestamp: NOW, ...changes };
}

/** A webhook as deliveries refer to it. */
export function named(webhookId: number, addedBy = `added ${webhookId}`) {
  return { id: webhookId, addedBy };
}

export function deliveryTo(webhookId: number, changes: Partial<Delivery> = {}): Delivery {
  return { ...newDelivery(EVENT, named(webhookId), paymentRecord()), ...changes };
}

const timing = { at: NOW, durationMs: 12 };
export const DELIVERED: AttemptResult = { kind: 'delivered', status: 200, error: null, retryAfterMs: null, ...timing };
export const GONE: AttemptResult = { kind: 'gone', status: 410, error: null, retryAfterMs: null, ...timing };
export const INTERRUPTED: AttemptResult = {
  kind: 'interrupted',
  by: 'stop',
  status: null,
  error: null,
  retryAfterMs: null,
  ...timing,
};
export const TIMED_OUT: AttemptResult = {
  kind: 'retryable',
  status: null,
  error: 'timeout',
  reason: 'waiting-for-headers',
  retryAfterMs: null,
  ...timing,
};

export function failedWith(status: number, retryAfterMs: number | null = null): AttemptResult {
  return { kind: 'retryable', status, error: null, retryAfterMs, ...timing };
}

/** What our own topics are created to take (adapters/kafka/topic-config.ts) is enough for the largest valid event. */
import { BATCH_BYTES, sizeOf } from '../../src/adapters/kafka/records.js';
import { deadLetterOf } from '../../src/delivery/dead-letters.js';
import { newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import { MAX_HEADERS, MAX_HEADERS_BYTES, MAX_PAYMENT_BYTES } from '../../src/delivery/payment/payment-event.js';
import { MAX_ID_BYTES } from '../../src/delivery/payment/payment-event-schema.js';
import { header, NOW, named } from '../support/delivery-samples.js';

// A control character has six bytes in JSON.
const longest = '\u0001'.repeat(MAX_ID_BYTES);
const event = { id: longest, type: 'med_rejected', accountId: Number.MAX_SAFE_INTEGER } as const;
const cloudEvent = { source: longest, mode: 'structured' } as const;
const headers = Array.from({ length: MAX_HEADERS }, () => header('h', 'v'.repeat(MAX_HEADERS_BYTES / MAX_HEADERS - 1)));
const record = { key: longest, value: Buffer.alloc(MAX_PAYMENT_BYTES), headers };

test('its retry record and dead letter fit a batch', () => {
  const delivery = newDelivery({ ...event, cloudEvent }, named(1), { ...record, key: Buffer.from(record.key) });
  const letter = deadLetterOf(delivery, { reason: 'exhausted', detail: 'status 503' });
  for (const own of [toRetryRecord(delivery, NOW), letter]) expect(sizeOf(own)).toBeLessThan(BATCH_BYTES);
});

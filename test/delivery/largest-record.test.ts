/** What our own topics are made to take (adapters/kafka/topic-config.ts) is enough for the largest payment. */
import { sizeOf } from '../../src/adapters/kafka/records.js';
import { ENOUGH_BYTES } from '../../src/adapters/kafka/topic-config.js';
import { toRequest } from '../../src/delivery/again/request.js';
import { deadLetterOf, notValid, unrouted } from '../../src/delivery/dead-letters.js';
import { newDelivery } from '../../src/delivery/delivery.js';
import {
  MAX_HEADERS,
  MAX_HEADERS_BYTES,
  MAX_PAYMENT_BYTES,
  MAX_RECORD_BYTES,
} from '../../src/payments/payment-event.js';
import { MAX_ID_BYTES } from '../../src/payments/payment-event-schema.js';
import { retryRecord } from '../support/generators/bundles.js';
import { header, NOW, named, received } from '../support/generators/delivery-samples.js';

// A control character has six bytes in JSON.
const longest = '\u0001'.repeat(MAX_ID_BYTES);
const event = { id: longest, type: 'med_rejected', accountId: Number.MAX_SAFE_INTEGER } as const;
const cloudEvent = { source: longest, mode: 'structured' } as const;
const headers = Array.from({ length: MAX_HEADERS }, () => header('h', 'v'.repeat(MAX_HEADERS_BYTES / MAX_HEADERS - 1)));
/** The subject of an issuer's token, which a request's header of 16 KiB has in base64. */
const actor = '\u0001'.repeat(12 * 1024);

test.each([
  ['value', MAX_PAYMENT_BYTES],
  ['key', 0],
])('the records of a payment that is mostly %s fit', (_, bytes) => {
  const key = Buffer.alloc(MAX_RECORD_BYTES - MAX_HEADERS_BYTES - bytes);
  const record = received({ key, value: Buffer.alloc(bytes), headers });
  const delivery = { ...newDelivery({ ...event, cloudEvent }, named(1), record), actor };
  const records = [
    retryRecord(delivery, NOW),
    toRequest(delivery, { trigger: 'resend', actor }),
    deadLetterOf(delivery, { reason: 'exhausted', detail: 'status 503' }),
    unrouted(record, event, 'x'),
    notValid(record, 'x'),
  ];
  for (const own of records) expect(sizeOf(own)).toBeLessThan(ENOUGH_BYTES);
});

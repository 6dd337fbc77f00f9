import fc from 'fast-check';
import { notValid, readDeadLetter } from '../../src/delivery/dead-letters.js';
import { fromRetryRecord, progressOf, toMember } from '../../src/delivery/delivery.js';
import type { NewRecord, RecordHeader } from '../../src/ports/broker.js';
import { exhausted } from '../support/generators/dead-letter-samples.js';
import { deliveryTo, NOW, paymentRecord, received } from '../support/generators/delivery-samples.js';

const asText = (headers: readonly RecordHeader[]) => headers.map(([name, value]) => [name, value.toString('utf8')]);
const read = (record: NewRecord) => readDeadLetter(received(record, { topic: 'webhooks.dead-letter', offset: 3 }));

describe('a record that is not valid', () => {
  test('keeps its key, its bytes and its headers, and says why and where it stood', () => {
    const record = received(paymentRecord(), { topic: 'payments', partition: 4, offset: 17 });
    const letter = notValid(record, 'type is missing');
    expect(letter).toMatchObject({ key: record.key, value: record.value });
    expect(asText(letter.headers)).toEqual([
      ['traceparent', '00-ab-cd-01'],
      ['aw-source', 'payments/4/17'],
      ['aw-reason', 'not-valid'],
      ['aw-detail', 'type is missing'],
    ]);
  });

  test('is kept to the byte, whatever it is', () => {
    const bytes = fc.option(fc.uint8Array().map((all) => Buffer.from(all)));
    const property = fc.property(bytes, bytes, (key, value) => {
      const letter = notValid(received({ key, value, headers: [] }), 'not JSON');
      expect(letter).toMatchObject({ key, value });
      const { value: text, valueBase64 } = read(letter);
      const shown = text === null ? Buffer.from(valueBase64 ?? '', 'base64') : Buffer.from(text);
      expect(shown).toEqual(value ?? Buffer.alloc(0));
      expect(text !== null && valueBase64 !== null).toBe(false);
    });
    fc.assert(property);
  });

  test('a broken retry record keeps our headers too: what is wrong may be in them', () => {
    const broken = { ...toMember(deliveryTo(5)), value: null };
    const { headers } = notValid(received(broken), 'the record is not a retry record');
    expect(asText(headers)).toEqual(expect.arrayContaining(asText(broken.headers)));
  });
});

describe('a delivery that is exhausted', () => {
  const record = toMember(deliveryTo(5, { attempts: 3, step: 3 }));
  const delivery = { ...deliveryTo(5), ...fromRetryRecord(record), attempts: 4 };

  test("keeps the payment's key, bytes and headers, and tells which delivery it was", () => {
    const letter = exhausted(delivery, 'status 503');
    expect(letter).toMatchObject({ key: paymentRecord().key, value: record.value });
    expect(asText(letter.headers)).toEqual([
      ['traceparent', '00-ab-cd-01'],
      ['aw-delivery', JSON.stringify(progressOf(delivery))],
      ['aw-reason', 'exhausted'],
      ['aw-detail', 'status 503'],
    ]);
  });

  test('is read back with all of it', () => {
    expect(read(exhausted(delivery, 'status 503'))).toEqual({
      at: new Date(NOW).toISOString(),
      reason: 'exhausted',
      detail: 'status 503',
      source: null,
      lastOffset: null,
      codec: null,
      after: null,
      digest: null,
      bytes: null,
      accountId: 42,
      eventId: 'pay-1',
      webhookId: 5,
      webhookEvent: 'added 5',
      deliveryId: delivery.id,
      chain: 0,
      attempts: 4,
      partition: 0,
      offset: 3,
      key: '42',
      value: paymentRecord().value?.toString(),
      valueBase64: null,
    });
  });
});

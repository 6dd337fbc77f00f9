/** Payment records of every kind, valid, nearly valid and invalid, and the endpoints' responses to them. */
import fc from 'fast-check';
import { MAX_PAYMENT_BYTES, MAX_RECORD_BYTES } from '../../../src/payments/payment-event.js';
import type { NewRecord, RecordHeader } from '../../../src/ports/broker.js';
import { EVENT_TYPES } from '../../../src/webhooks/limits.js';
import { ACCOUNT } from './delivery-samples.js';
import { anyBytes, broken, oddText, oddValue, withOneChange } from './odd-json.js';

/** unprepared: the secrets can't be opened. */
const ANSWERS = ['delivered', 'failed', 'gone', 'interrupted', 'unprepared'] as const;
export type EndpointAnswer = (typeof ANSWERS)[number];

export interface FuzzedPayment {
  readonly record: NewRecord;
  /** The responses of the event's webhooks, in turn. */
  readonly answers: readonly EndpointAnswer[];
  /** How many more attempts fail if the first did not succeed. */
  readonly failures: number;
}

const accountId = fc.oneof({ weight: 8, arbitrary: fc.constant(ACCOUNT) }, fc.constantFrom(43, 0, -1, 2 ** 53 - 1));
const type = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('cash_in', 'cash_out') },
  fc.constantFrom(...EVENT_TYPES),
);
const plain = fc.record({
  id: fc.oneof(
    { weight: 50, arbitrary: fc.string({ maxLength: 8 }) },
    fc.constantFrom('é'.repeat(512), 'é'.repeat(513)),
  ),
  type,
  accountId,
  timestamp: fc.constant('2026-11-21T09:00:00Z'),
  data: fc.record({ amount: fc.constantFrom('10.00', '0.1') }),
});
const odd = fc.record({ id: oddText, type, accountId, data: oddValue, '\ud800': oddValue });
const text = plain.map((event) => JSON.stringify(event));

/** Around the size limit. */
const large = fc.tuple(plain, fc.integer({ min: -1, max: 1 })).map(([event, over]) => {
  const bytes = Buffer.from(JSON.stringify(event));
  return Buffer.concat([bytes, Buffer.alloc(MAX_PAYMENT_BYTES - bytes.length + over, ' ')]);
});

const value: fc.Arbitrary<Buffer | null> = fc.oneof(
  { weight: 100, arbitrary: text.map((json) => Buffer.from(json)) },
  { weight: 100, arbitrary: odd.map((event) => Buffer.from(JSON.stringify(event))) },
  { weight: 200, arbitrary: withOneChange(plain).map((json) => Buffer.from(json)) },
  { weight: 50, arbitrary: broken(text) },
  { weight: 50, arbitrary: anyBytes },
  { weight: 25, arbitrary: fc.json({ maxDepth: 2 }).map((json) => Buffer.from(json)) },
  { weight: 5, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: large },
);

const cloudAttributes = {
  specversion: fc.oneof({ weight: 30, arbitrary: fc.constant('1.0') }, fc.constantFrom('0.3', '1', '')),
  id: fc.oneof({ weight: 5, arbitrary: fc.string({ minLength: 1, maxLength: 8 }) }, oddText),
  source: fc.oneof({ weight: 5, arbitrary: fc.constantFrom('/payments', 'urn:x') }, oddText),
  type: fc.oneof(
    {
      weight: 5,
      arbitrary: fc.tuple(fc.constantFrom('', 'com.example.', 'a_b-c.'), type).map((parts) => parts.join('')),
    },
    fc.constantFrom('com..cash_in', '.cash_in', 'com.cash', 'cash_in.', 'a b.cash_in'),
  ),
};
const accountText = fc.oneof(
  { weight: 5, arbitrary: fc.constant(String(ACCOUNT)) },
  fc.constantFrom('43', '-1', '0', '-0', '042', '42.0', ' 42', '', '9007199254740993', '1e1', '99999999999999999'),
);
const cloudData = fc.oneof({ weight: 3, arbitrary: fc.record({ accountId, amount: fc.constant('1.00') }) }, oddValue);

const structured = fc.record(
  {
    ...cloudAttributes,
    data: cloudData,
    data_base64: fc.constant('e30='),
    accountid: fc.oneof(accountText, accountId),
  },
  { requiredKeys: ['specversion', 'id', 'source', 'type'] },
);
const structuredValue = fc.oneof(
  { weight: 4, arbitrary: structured.map((event) => Buffer.from(JSON.stringify(event))) },
  { weight: 4, arbitrary: withOneChange(structured).map((json) => Buffer.from(json)) },
  { weight: 1, arbitrary: structured.map((event) => Buffer.from(JSON.stringify([event]))) },
  { weight: 1, arbitrary: broken(structured.map((event) => JSON.stringify(event))) },
);

const NO_BYTES = Buffer.alloc(0);
const bytes = fc.uint8Array({ maxLength: 12 }).map((array): Buffer => Buffer.from(array));
const FORGED = [
  ...['aw-delivery-id', 'aw-account-id', 'aw-attempts', 'aw-due', 'aw-reason', 'aw-source', 'aw-', 'traceparent'],
  ...['ce_id', 'ce_type', 'ce_note', 'CE_ID', 'ce_data', 'ce_é'],
];
const header: fc.Arbitrary<RecordHeader> = fc.tuple(fc.oneof(fc.constantFrom(...FORGED), oddText), bytes);

/** Around the limit of the whole record. */
const largeKey = fc.nat(300).map((left): Buffer => Buffer.alloc(MAX_RECORD_BYTES - left));
const key = fc.option(fc.oneof({ weight: 1_500, arbitrary: bytes }, { weight: 1, arbitrary: largeKey }));
const headers: fc.Arbitrary<readonly RecordHeader[]> = fc.oneof(
  { weight: 500, arbitrary: fc.array(header, { maxLength: 3 }) },
  // Around both limits.
  { weight: 1, arbitrary: fc.nat(2).map((over): RecordHeader[] => [['x', Buffer.alloc(64 * 1024 - 2 + over)]]) },
  {
    weight: 1,
    arbitrary: fc.nat(2).map((over) => Array.from({ length: 999 + over }, (): RecordHeader => ['x', NO_BYTES])),
  },
);

const contentType = fc.constantFrom(
  ...['application/json', 'text/plain; charset=utf-8', 'application/avro', 'no type', '', 'a/b\r\nx: y', 'a/b ;c'],
  ...['application/cloudevents+json', 'Application/CloudEvents', 'application/cloudevents+avro'],
  ...['application/cloudevents-batch+json', 'application/cloudevents+json; charset=UTF-8'],
);
const typeHeader = contentType.map((text): RecordHeader => ['content-type', Buffer.from(text)]);

/** Some have no account, or one attribute twice. */
const binaryHeaders: fc.Arbitrary<readonly RecordHeader[]> = fc
  .record(
    { ...cloudAttributes, accountid: accountText, note: oddText },
    { requiredKeys: ['specversion', 'id', 'source', 'type'] },
  )
  .map((attributes) => Object.entries(attributes).map(([name, text]) => [`ce_${name}`, Buffer.from(text)]));

const plainRecord = fc.record({ key, value, headers });
const structuredRecord = fc.record({
  key,
  value: structuredValue,
  headers: fc.oneof(headers, fc.array(typeHeader, { maxLength: 1 }), binaryHeaders),
});
const binaryRecord = fc.record({
  key,
  value: fc.oneof(
    value,
    cloudData.map((data) => Buffer.from(JSON.stringify(data))),
    structuredValue,
  ),
  headers: fc.tuple(headers, fc.array(typeHeader, { maxLength: 1 }), binaryHeaders).map((parts) => parts.flat()),
});

export const fuzzedPayment: fc.Arbitrary<FuzzedPayment> = fc.record({
  record: fc.oneof(
    { weight: 3, arbitrary: plainRecord },
    { weight: 1, arbitrary: structuredRecord },
    { weight: 1, arbitrary: binaryRecord },
  ),
  answers: fc.array(
    fc.oneof({ weight: 6, arbitrary: fc.constant('delivered' as const) }, fc.constantFrom(...ANSWERS)),
    { minLength: 2, maxLength: 2 },
  ),
  failures: fc.nat(5),
});

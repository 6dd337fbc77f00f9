/** Payment records of every kind, valid, nearly valid and not, and how the endpoints answer to them. */
import fc from 'fast-check';
import { MAX_PAYMENT_BYTES } from '../../src/delivery/payment-event.js';
import type { NewRecord, RecordHeader } from '../../src/ports/broker.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { ACCOUNT } from './delivery-samples.js';
import { anyBytes, broken, oddText, oddValue, withOneChange } from './odd-json.js';

/** unprepared: the secrets can't be opened. */
export const ANSWERS = ['delivered', 'failed', 'gone', 'interrupted', 'unprepared'] as const;
export type EndpointAnswer = (typeof ANSWERS)[number];

export interface FuzzedPayment {
  readonly record: NewRecord;
  /** Of the webhooks it is due to, in turn. */
  readonly answers: readonly EndpointAnswer[];
  /** How many more attempts fail where the first did not succeed. */
  readonly failures: number;
}

const accountId = fc.oneof({ weight: 8, arbitrary: fc.constant(ACCOUNT) }, fc.constantFrom(43, 0, -1, 2 ** 53 - 1));
const type = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('cash_in', 'cash_out') },
  fc.constantFrom(...EVENT_TYPES),
);
const plain = fc.record({
  id: fc.string({ maxLength: 8 }),
  type,
  accountId,
  timestamp: fc.constant('2026-11-21T09:00:00Z'),
  data: fc.record({ amount: fc.constantFrom('10.00', '0.1') }),
});
const odd = fc.record({ id: oddText, type, accountId, data: oddValue, '\ud800': oddValue });
const text = plain.map((event) => JSON.stringify(event));

/** About the most that is taken. */
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

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array));
const FORGED = [
  'aw-delivery-id',
  'aw-account-id',
  'aw-attempts',
  'aw-due',
  'aw-reason',
  'aw-source',
  'aw-',
  'traceparent',
];
const header: fc.Arbitrary<RecordHeader> = fc.tuple(fc.oneof(fc.constantFrom(...FORGED), oddText), bytes);

/** A broker takes records of so many bytes; there are payments that leave no place for what the service adds. */
export const MOST_RECORD_BYTES = 1_048_576;

const headers: fc.Arbitrary<readonly RecordHeader[]> = fc.oneof(
  { weight: 1_500, arbitrary: fc.array(header, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.nat(300).map((left): RecordHeader[] => [['x', Buffer.alloc(MOST_RECORD_BYTES - left)]]) },
);

export const fuzzedPayment: fc.Arbitrary<FuzzedPayment> = fc.record({
  record: fc.record({ key: fc.option(bytes), value, headers }),
  answers: fc.array(
    fc.oneof({ weight: 6, arbitrary: fc.constant('delivered' as const) }, fc.constantFrom(...ANSWERS)),
    { minLength: 2, maxLength: 2 },
  ),
  failures: fc.nat(5),
});

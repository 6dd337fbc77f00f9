/** Invalid records of the payment topic, of every kind. */
import type { NewRecord } from '../../../src/ports/broker.js';
import { ACCOUNT, header } from './delivery-samples.js';

/** A payment event of ACCOUNT as JSON. */
export function payment(id: string, changes: object = {}): string {
  return JSON.stringify({ id, type: 'cash_in', accountId: ACCOUNT, data: { amount: '10.00' }, ...changes });
}

/** A payment event of exactly this many bytes. */
export function paymentOfSize(bytes: number): string {
  const padding = bytes - payment('big', { data: '' }).length;
  return payment('big', { data: 'x'.repeat(padding) });
}

const notUtf8 = Buffer.concat([Buffer.from(payment('a')), Buffer.from([0xff])]);
const unsafe = payment('a').replace(`:${ACCOUNT},`, ':9007199254740993,');

const KINDS: readonly (readonly [value: string | Buffer | null, reason: string])[] = [
  [notUtf8, 'the record is not UTF-8'],
  ['{"id":', 'the record is not JSON'],
  ['', 'the record has no value'],
  [null, 'the record has no value'],
  [`[${payment('a')}]`, 'the record must be object'],
  ['null', 'the record must be object'],
  ['"payment"', 'the record must be object'],
  [payment('a', { id: 5 }), 'id must be string'],
  [payment('a', { id: undefined }), 'id is missing'],
  [payment('a', { type: 'cash_sideways' }), 'type is not a known event type'],
  [payment('a', { type: 'CASH_IN' }), 'type is not a known event type'],
  [payment('a', { accountId: 42.5 }), 'accountId must be integer'],
  [payment('a', { accountId: '42' }), 'accountId must be integer'],
  [unsafe, 'accountId must be <= 9007199254740991'],
  [payment('é'.repeat(513)), 'id has more than 1024 bytes'],
  [paymentOfSize(256 * 1024 + 1), 'the record has more than 262144 bytes'],
];

/** Some have no key, others a key that is not text. */
export const POISON: readonly { readonly record: NewRecord; readonly reason: string }[] = KINDS.map(
  ([value, reason], index) => ({
    record: {
      key: index % 2 ? null : Buffer.from([0xfe, index]),
      value: value === null ? null : Buffer.from(value),
      headers: [header('traceparent', `00-${index}`)],
    },
    reason,
  }),
);

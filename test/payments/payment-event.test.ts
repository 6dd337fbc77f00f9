import fc from 'fast-check';
import { MAX_PAYMENT_BYTES, parsePaymentEvent as parseRecord } from '../../src/payments/payment-event.js';
import type { RecordHeader } from '../../src/ports/broker.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';

const parsePaymentEvent = (value: Buffer | null) => parseRecord({ value, headers: [] });
const VALID = { id: 'evt-1', type: 'cash_in', accountId: 42 };
const json = (event: unknown) => Buffer.from(JSON.stringify(event));
const withAccountId = (literal: string) => Buffer.from(`{"id":"evt-1","type":"cash_in","accountId":${literal}}`);

/** A payment event of exactly this many bytes. */
function ofBytes(size: number): Buffer {
  const frame = json({ ...VALID, data: '' }).length;
  return json({ ...VALID, data: 'x'.repeat(size - frame) });
}

describe('is not valid, with the reason:', () => {
  const reasons: readonly (readonly [what: string, value: Buffer | null, reason: string])[] = [
    ['no value', null, 'the record has no value'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'the record is not UTF-8'],
    ['UTF-16', Buffer.from(JSON.stringify(VALID), 'utf16le'), 'the record is not JSON'],
    ['not JSON', Buffer.from('cash_in'), 'the record is not JSON'],
    [
      'a byte order mark',
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), json(VALID)]),
      'the record begins with a byte order mark',
    ],
    ['nesting without an end', Buffer.alloc(MAX_PAYMENT_BYTES, '['), 'the record is not JSON'],
    ['an array', json([VALID]), 'the record must be object'],
    ['null', json(null), 'the record must be object'],
    ['no id', json({ ...VALID, id: undefined }), 'id is missing'],
    ['an empty id', json({ ...VALID, id: '' }), 'id is empty'],
    ['a blank id', json({ ...VALID, id: ' \u00a0\n' }), 'id is empty'],
    ['no type', json({ ...VALID, type: undefined }), 'type is missing'],
    ['an unknown type', json({ ...VALID, type: 'cash' }), 'type is not a known event type'],
    ['a type of the prototype', json({ ...VALID, type: 'toString' }), 'type is not a known event type'],
    ['no accountId', json({ ...VALID, accountId: undefined }), 'accountId is missing'],
    ['accountId as a string', withAccountId('"42"'), 'accountId must be integer'],
    ['accountId null', withAccountId('null'), 'accountId is missing'],
    ['accountId with a fraction', withAccountId('42.5'), 'accountId must be integer'],
    ['accountId of 2^53', withAccountId('9007199254740992'), 'accountId must be <= 9007199254740991'],
    ['accountId of -2^53', withAccountId('-9007199254740992'), 'accountId must be >= -9007199254740991'],
    ['accountId beyond a double', withAccountId('1e999'), 'accountId must be integer'],
    ['the fields behind __proto__', Buffer.from(`{"__proto__":${JSON.stringify(VALID)}}`), 'id is missing'],
    ['an id of one byte more than 1 KiB', json({ ...VALID, id: 'x'.repeat(1_025) }), 'id has more than 1024 bytes'],
    [
      'an id of 513 letters with two bytes each',
      json({ ...VALID, id: 'é'.repeat(513) }),
      'id has more than 1024 bytes',
    ],
    ['one byte more than 256 KiB', ofBytes(256 * 1024 + 1), 'the record has more than 262144 bytes'],
  ];
  test.each(reasons)('%s', (_, value, reason) => {
    expect(parsePaymentEvent(value)).toMatchObject({ ok: false, reason });
  });
});

describe('is valid:', () => {
  test.each(EVENT_TYPES)('type %s', (type) => {
    expect(parsePaymentEvent(json({ ...VALID, type }))).toMatchObject({ ok: true, event: { type } });
  });

  const accountIds: readonly (readonly [literal: string, accountId: number])[] = [
    ['42', 42],
    ['42.0', 42],
    ['4.2e1', 42],
    ['0', 0],
    ['-1', -1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
  ];
  test.each(accountIds)('accountId %s', (literal, accountId) => {
    expect(parsePaymentEvent(withAccountId(literal))).toMatchObject({ ok: true, event: { accountId } });
  });

  test('exactly 256 KiB', () => {
    expect(parsePaymentEvent(ofBytes(256 * 1024)).ok).toBe(true);
  });

  test.each(['0', 'Zoë 🦊', ' 1 '])('the id %j', (id) => {
    expect(parsePaymentEvent(json({ ...VALID, id }))).toMatchObject({ ok: true, event: { id } });
  });

  test('more fields, and digits that no double holds, in bytes that stay as they were', () => {
    const value = Buffer.from(
      '{ "id":"evt-1","type":"cash_in","accountId":42,"data":{"amount":12345678901234567890.10} }',
    );
    const before = Buffer.from(value);
    expect(parsePaymentEvent(value)).toMatchObject({ ok: true, event: VALID });
    expect(value).toEqual(before);
  });
});

describe('the headers of a record', () => {
  const parsed = (headers: readonly RecordHeader[]) => parseRecord({ value: json(VALID), headers });
  const headersOf = (count: number, bytes = 0): RecordHeader[] =>
    Array.from({ length: count }, () => ['h', Buffer.alloc(bytes)]);

  test('up to 1,000, and up to 64 KiB of names and values, are valid', () => {
    expect(parsed(headersOf(1_000)).ok).toBe(true);
    expect(parsed(headersOf(64, 1_023)).ok).toBe(true);
  });

  test.each([
    ['more than 1,000', headersOf(1_001), 'the record has more than 1000 headers'],
    ['more than 64 KiB', [...headersOf(64, 1_023), ...headersOf(1)], 'the headers have more than 65536 bytes'],
    [
      'a name of more than 64 KiB in UTF-8',
      [['é'.repeat(32_769), Buffer.alloc(0)]],
      'the headers have more than 65536 bytes',
    ],
  ] satisfies [string, RecordHeader[], string][])('are not valid: %s', (_, headers, reason) => {
    expect(parsed(headers)).toMatchObject({ ok: false, reason });
  });
});

describe('any record', () => {
  test('of any bytes is taken or refused with a reason, never thrown at', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const parsed = parsePaymentEvent(Buffer.from(bytes));
        return parsed.ok || parsed.reason.length > 0;
      }),
    );
  });
});

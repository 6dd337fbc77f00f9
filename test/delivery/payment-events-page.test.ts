/** What docs/payment-events.md says of records, held against the parser. */
import { MAX_ATTRIBUTE_BYTES } from '../../src/payments/cloud-event-attributes.js';
import {
  MAX_HEADERS,
  MAX_HEADERS_BYTES,
  MAX_PAYMENT_BYTES,
  MAX_RECORD_BYTES,
  parsePaymentEvent,
} from '../../src/payments/payment-event.js';
import { MAX_ID_BYTES } from '../../src/payments/payment-event-schema.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { ACCOUNT, EVENT, header } from '../support/delivery-samples.js';
import { fileOf } from '../support/operations-chapter.js';

const PAGE = fileOf('docs/payment-events.md');
const parse = (value: Buffer | string) => parsePaymentEvent({ value: Buffer.from(value), headers: [] });
const event = (changes: object) => JSON.stringify({ ...EVENT, ...changes });

test('its records are payment events', () => {
  const records = [...PAGE.matchAll(/^(?:value {4})?(\{"id":.*\})$/gm)].map(([, record = '']) => record);
  expect(records.map((record) => parse(record))).toMatchObject(records.map(() => ({ ok: true, event: EVENT })));
  expect(records).toHaveLength(3);
  expect(PAGE).toContain(`key      ${ACCOUNT}\n`);
});

test('it has the event types and the limits', () => {
  expect(PAGE).toContain(`One of ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}, spelled so`);
  expect(PAGE).toContain(`256 KiB (${MAX_PAYMENT_BYTES.toLocaleString('en')} bytes)`);
  expect(PAGE).toContain(`at most 512 KiB (${MAX_RECORD_BYTES.toLocaleString('en')} bytes)`);
  expect(PAGE).toContain(`at most ${MAX_HEADERS.toLocaleString('en')} headers`);
  expect(PAGE).toContain(`at most 64 KiB (${MAX_HEADERS_BYTES.toLocaleString('en')} bytes)`);
  expect(PAGE).toContain(`At most 1 KiB (${MAX_ID_BYTES.toLocaleString('en')} bytes) in UTF-8`);
  expect(PAGE).toContain(`have ${MAX_ATTRIBUTE_BYTES / 1024} KiB at most`);
});

describe('its reasons are those of the dead letters', () => {
  const bad = [
    '',
    ' '.repeat(MAX_PAYMENT_BYTES + 1),
    ' '.repeat(MAX_RECORD_BYTES + 1),
    Buffer.from([0xff]),
    '{"id":',
    `\ufeff${event({})}`,
    '[]',
    event({ id: undefined }),
    event({ id: ' ' }),
    event({ id: 1 }),
    event({ type: 'CASH_IN' }),
    event({ accountId: '42' }),
    event({ accountId: 2 ** 53 }),
    event({ id: 'x'.repeat(1_025) }),
  ];
  const badHeaders = [Array(1_001).fill(header('h', '')), [header('h', 'x'.repeat(65_536))]];
  const results = [
    ...bad.map((value) => parse(value)),
    ...badHeaders.map((headers) => parsePaymentEvent({ value: Buffer.from(event({})), headers })),
  ];
  const reasons = results.map((parsed) => (parsed.ok ? '' : parsed.reason));
  const table = PAGE.slice(PAGE.indexOf('| `aw-detail` |'), PAGE.indexOf('### Order'));
  const named = table
    .split('\n')
    .slice(2)
    .flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)]);

  test('all of them, and no other', () => {
    expect(named.map(([, reason]) => reason).sort()).toEqual([...reasons].sort());
  });
});

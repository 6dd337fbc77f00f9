import { logEntry, loggedAttempt, readLogRecord } from '../../../src/delivery/log/log-record.js';
import { DELIVERED, deliveryTo } from '../../support/generators/delivery-samples.js';
import { toLogRecord } from '../../support/generators/log-records.js';

const ENTRY = JSON.parse(JSON.stringify(logEntry(deliveryTo(1), 'delivered', loggedAttempt(DELIVERED, 2), null)));
const ROUTED = {
  eventId: 'pay-1',
  eventType: 'cash_in',
  payment: 'payment-events/0/7@1000',
  accountId: 42,
  routed: 3,
  confirmed: 4,
  webhooks: [1, 2],
  amount: '10.50',
  reference: 'x'.repeat(64),
};
const NOTHING = { store: '', deliveries: [], routed: [] };

const read = (text: string | null) => readLogRecord({ value: text === null ? null : Buffer.from(text) });
const readAll = (content: object) => read(JSON.stringify(content));

test.each([null, '', 'not JSON', 'null', '5', '"text"', '[]', '{}', '{"id":"msg_1","accountId":42}'])(
  'a foreign record has no entries: %j',
  (text) => {
    expect(read(text)).toEqual(NOTHING);
  },
);

test.each([5, {}, 'text', null])('a list that is none counts as empty: %j', (list) => {
  expect(readAll({ store: 'one', deliveries: list, routed: list })).toEqual({ ...NOTHING, store: 'one' });
});

test.each(['2026-11-01T00:00:00.000Z', null])('an attempt keeps its expired certificate (%s)', (expiredAt) => {
  const expiredCertificate = { name: 'Issuing authority', expiredAt };
  const failure = { kind: 'retryable', status: null, error: 'tls', reason: 'certificate-expired' } as const;
  const result = { ...failure, expiredCertificate, retryAfterMs: null, at: 0, durationMs: 1 };
  const entry = logEntry(deliveryTo(1), 'retrying', loggedAttempt(result, 2), null);
  expect(readAll({ deliveries: [entry] }).deliveries).toMatchObject([{ attempt: { expiredCertificate } }]);
});

test('a record of more than 1 MiB is foreign, and of a list the first 1,000 entries count', () => {
  const { deliveries, routed } = readAll({
    store: 'one',
    deliveries: Array(1_001).fill(ENTRY),
    routed: Array(1_001).fill(ROUTED),
  });
  expect([deliveries.length, routed.length]).toEqual([1_000, 1_000]);
  expect(readAll({ store: 'one', deliveries: [ENTRY], more: 'x'.repeat(1024 * 1024) })).toEqual(NOTHING);
});

describe('an unsound entry costs only itself', () => {
  test.each([
    [null],
    ['text'],
    [{}],
    [{ ...ENTRY, id: 5 }],
    [{ ...ENTRY, id: 'two words' }],
    [{ ...ENTRY, webhookId: undefined }],
    [{ ...ENTRY, outcome: 'lost' }],
    [{ ...ENTRY, attempts: '1' }],
    [{ ...ENTRY, chain: -1 }],
    [{ ...ENTRY, nextAttemptAt: 'soon' }],
    [{ ...ENTRY, attempt: { ...ENTRY.attempt, durationMs: null } }],
  ])('%j among deliveries', (unsound) => {
    expect(readAll({ deliveries: [ENTRY, unsound, ENTRY] }).deliveries).toEqual([ENTRY, ENTRY]);
  });

  test.each([
    null,
    { ...ROUTED, payment: 'nowhere' },
    { ...ROUTED, payment: undefined },
    { ...ROUTED, accountId: '42' },
    { ...ROUTED, eventType: undefined },
    { ...ROUTED, webhooks: 5 },
    { ...ROUTED, webhooks: ['1'] },
    { ...ROUTED, amount: null },
    { ...ROUTED, reference: 'x'.repeat(65) },
  ])('%j among routed ones', (unsound) => {
    expect(readAll({ store: 'one', routed: [ROUTED, unsound, ROUTED] }).routed).toEqual([ROUTED, ROUTED]);
  });
});

test('routed entries without their store are left out: their revisions mean nothing', () => {
  expect(readAll({ routed: [ROUTED] }).routed).toEqual([]);
});

test('fields that a later release adds are ignored, and lists as well', () => {
  expect(readAll({ deliveries: [ENTRY], later: [{}], more: 1 })).toEqual({ ...NOTHING, deliveries: [ENTRY] });
});

test('fields of an entry that ours never has are left out: they may be nested too deeply to be written again', () => {
  const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const entry = { ...ENTRY, more: 0, attempt: { ...ENTRY.attempt, more: 0 } };
  const json = JSON.stringify({ store: 'one', deliveries: [entry], routed: [{ ...ROUTED, more: 0 }] });
  expect(read(json.replaceAll('"more":0', `"more":${nested}`))).toEqual({
    store: 'one',
    deliveries: [ENTRY],
    routed: [ROUTED],
  });
});

// A producer that stamps in nanoseconds; no timestamp at all; the most that Kafka stores.
test.each([1_763_900_000_123_456_789n, -1n, 9_223_372_036_854_775_807n])('a payment stamped %d is kept', (at) => {
  const routed = [{ ...ROUTED, payment: `payment-events/0/7@${at}` }];
  expect(readLogRecord(toLogRecord({ store: 'one', routed })).routed).toEqual(routed);
});

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

// A producer that stamps in nanoseconds; no timestamp at all; the most that Kafka stores.
test.each([1_763_900_000_123_456_789n, -1n, 9_223_372_036_854_775_807n])('a payment stamped %d is kept', (at) => {
  const routed = [{ ...ROUTED, payment: `payment-events/0/7@${at}` }];
  expect(readLogRecord(toLogRecord({ store: 'one', routed })).routed).toEqual(routed);
});

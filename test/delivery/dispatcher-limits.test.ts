import { unconfirmedText } from '../../src/delivery/dispatcher.js';

test('payments that are not confirmed for 30 s are a reason not to be ready, with how many are in hand', () => {
  const now = Date.parse('2026-11-25T10:00:30.000Z');
  expect(unconfirmedText({ inHand: 20, unconfirmedMs: 29_999 }, now)).toBeNull();
  expect(unconfirmedText({ inHand: 20, unconfirmedMs: 30_000 }, now)).toBe(
    "payments are delivered but not confirmed: the read model is behind the event store's head since " +
      '2026-11-25T10:00:00.000Z; 20 in hand of 16,384',
  );
});

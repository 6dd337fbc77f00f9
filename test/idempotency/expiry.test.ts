import { expect, test } from '@jest/globals';
import { isKeyOver } from '../../src/idempotency/expiry.js';

const at = '2026-11-22T12:00:00.000Z';
const later = (hours: number) => Date.parse(at) + hours * 3_600_000;

test.each([
  { type: 'IdempotencyKeyUsed', data: { fingerprint: 'f', usedAt: at } },
  { type: 'IdempotentAnswerKept', data: { status: 200, message: 'm', answeredAt: at } },
  { type: 'IdempotencyKeyReleased', data: { releasedAt: at } },
])('a stream of an earlier release is over 25 h after its $type, and not before', (last) => {
  expect([isKeyOver(last, later(24.9)), isKeyOver(last, later(25))]).toEqual([false, true]);
});

test('of another last event nothing is known to be over', () => {
  expect(isKeyOver({ type: 'SomethingElse', data: { usedAt: at } }, later(10_000))).toBe(false);
});

import { expect, test } from '@jest/globals';
import { type Answer, answerOf } from '../../src/audit/answers.js';
import type { Evidence } from '../../src/audit/open-deliveries.js';
import type { Outcome, Said } from '../../src/ports/delivery-order.js';

const entry = (outcome: Outcome, next: number | null = null): Said => {
  const nextAttemptAt = next === null ? null : new Date(next).toISOString();
  return { outcome, turn: 1, at: 0, nextAttemptAt };
};
const NOTHING: Evidence = { waiting: null, exhaustedAt: null };
const waits = (due: number) => ({ tier: '5s', due });
const retrying = (due: number): Answer => ({ kind: 'retrying', tier: '5s', due });
const noAnswer = (why: RegExp) => ({ kind: 'unanswered', why: expect.stringMatching(why) as unknown as string });

test.each<readonly [string, Said | null, Partial<Evidence>, object]>([
  ['delivered', entry('delivered'), {}, { kind: 'delivered' }],
  ['cancelled', entry('cancelled'), {}, { kind: 'cancelled' }],
  ['delivered, with an old record in a tier', entry('delivered'), { waiting: waits(9) }, { kind: 'delivered' }],
  ['exhausted, with its dead letter', entry('exhausted'), { exhaustedAt: 1 }, { kind: 'exhausted' }],
  ['exhausted, without it', entry('exhausted'), { waiting: waits(9) }, noAnswer(/dead letters/)],
  ['retrying, and in the tier', entry('retrying', 7), { waiting: waits(7) }, retrying(7)],
  ['retrying, put off since', entry('retrying', 7), { waiting: waits(8) }, retrying(8)],
  ['retrying, with the record of the try before', entry('retrying', 7), { waiting: waits(6) }, noAnswer(/in no tier/)],
  ['retrying, in no tier', entry('retrying', 7), { exhaustedAt: 9 }, noAnswer(/in no tier/)],
  ['no entry, in a tier', null, { waiting: waits(7) }, retrying(7)],
  ['no entry, a dead letter', null, { exhaustedAt: 5 }, { kind: 'exhausted' }],
  ['no entry, a dead letter after the tier', null, { waiting: waits(4), exhaustedAt: 5 }, { kind: 'exhausted' }],
  ['no entry, replayed', null, { waiting: waits(7), exhaustedAt: 5 }, retrying(7)],
  ['no entry at all', null, {}, noAnswer(/nothing is logged/)],
])('%s', (_, said, evidence, answer) => {
  expect(answerOf({ said, goneSoon: false }, { ...NOTHING, ...evidence })).toEqual(answer);
});

test('one without an entry whose webhook went soon is inactive; what the topics say of it counts all the same', () => {
  expect(answerOf({ said: null, goneSoon: true }, NOTHING)).toEqual({ kind: 'inactive' });
  expect(answerOf({ said: null, goneSoon: true }, { ...NOTHING, waiting: waits(7) })).toEqual(retrying(7));
  expect(answerOf({ said: entry('retrying', 7), goneSoon: true }, NOTHING)).toMatchObject({ kind: 'unanswered' });
  expect(answerOf({ said: entry('cancelled'), goneSoon: true }, NOTHING)).toEqual({ kind: 'cancelled' });
});

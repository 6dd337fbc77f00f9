import { type Answer, answerOf, type Evidence } from '../../src/audit/answers.js';
import type { Outcome, Said } from '../../src/ports/delivery-order.js';

const entry = (outcome: Outcome, turn = 1): Said => ({ outcome, turn, at: 0, nextAttemptAt: null });
const NOTHING: Evidence = { said: null, openRetry: null, letterTurn: null };
const waits = (turn: number) => ({ tier: '5s', turn, due: 7 });
const retrying = (turn: number): Answer => ({ kind: 'retrying', ...waits(turn) });
const noAnswer = (why: RegExp) => ({ kind: 'unanswered', why: expect.stringMatching(why) as unknown as string });

test.each<readonly [string, Partial<Evidence>, object]>([
  ['delivered', { said: entry('delivered') }, { kind: 'delivered' }],
  ['cancelled', { said: entry('cancelled') }, { kind: 'cancelled' }],
  ['delivered, with a record in a tier', { said: entry('delivered'), openRetry: waits(9) }, { kind: 'delivered' }],
  ['exhausted, with its dead letter', { said: entry('exhausted'), letterTurn: 1 }, { kind: 'exhausted' }],
  [
    'exhausted, and put back since',
    { said: entry('exhausted'), letterTurn: 1, openRetry: waits(2) },
    { kind: 'exhausted' },
  ],
  ['exhausted, without it', { said: entry('exhausted') }, noAnswer(/dead letters/)],
  [
    'exhausted, with that from before a replay',
    { said: entry('exhausted', 3), letterTurn: 2 },
    noAnswer(/dead letters/),
  ],
  [
    'exhausted as before a cancelled resend',
    { said: { ...entry('exhausted', 5), endTurn: 2 }, letterTurn: 2 },
    { kind: 'exhausted' },
  ],
  [
    'exhausted as before, without that dead letter',
    { said: { ...entry('exhausted', 5), endTurn: 2 }, letterTurn: 1 },
    noAnswer(/dead letters/),
  ],
  ['exhausted without it, and still in the tier', { said: entry('exhausted'), openRetry: waits(1) }, retrying(1)],
  ['retrying, and in the tier', { said: entry('retrying'), openRetry: waits(1) }, retrying(1)],
  ['retrying, and tried since', { said: entry('retrying'), openRetry: waits(2) }, retrying(2)],
  [
    'retrying, with the record of the try before',
    { said: entry('retrying', 2), openRetry: waits(1) },
    noAnswer(/in no retry tier/),
  ],
  ['retrying, in no tier', { said: entry('retrying'), letterTurn: 9 }, noAnswer(/in no retry tier/)],
  ['no entry, in a tier', { openRetry: waits(0) }, retrying(0)],
  ['no entry, a dead letter', { letterTurn: 0 }, { kind: 'exhausted' }],
  ['no entry, a dead letter of the last try', { openRetry: waits(4), letterTurn: 5 }, { kind: 'exhausted' }],
  ['no entry, parked until its time was over', { openRetry: waits(4), letterTurn: 4 }, { kind: 'exhausted' }],
  ['no entry, replayed', { openRetry: waits(6), letterTurn: 5 }, retrying(6)],
  ['no entry at all', {}, noAnswer(/no record of the delivery/)],
])('%s', (_, evidence, answer) => {
  expect(answerOf({ ...NOTHING, ...evidence }, false)).toEqual(answer);
});

test.each<Partial<Evidence>>([{}, { said: entry('exhausted') }, { said: entry('retrying') }])(
  'whose payment comes again, and with it what is missing: %j waits',
  (evidence) => {
    expect(answerOf({ ...NOTHING, ...evidence }, true)).toEqual({ kind: 'waiting' });
  },
);

test('what is there is told, even if its payment comes again', () => {
  expect(answerOf({ ...NOTHING, said: entry('delivered') }, true)).toEqual({ kind: 'delivered' });
  expect(answerOf({ ...NOTHING, said: entry('retrying'), openRetry: waits(1) }, true)).toEqual(retrying(1));
});

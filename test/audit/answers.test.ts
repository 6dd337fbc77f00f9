import { type Answer, answerOf, type Evidence } from '../../src/audit/answers.js';
import { type DeliveryFold, type DeliveryStatus, type Outcome, withStatus } from '../../src/ports/delivery-order.js';

const at = (attempts: number, chain = 0) => ({ chain, attempts });
const entry = (outcome: Outcome, progress = at(1)): DeliveryStatus => ({
  ...{ outcome, ...progress },
  ...{ at: 0, nextAttemptAt: null },
});
const said = (...entries: DeliveryStatus[]): Pick<Evidence, 'fold'> => ({
  fold: entries.reduce<DeliveryFold | undefined>(withStatus, undefined) ?? null,
});
const NOTHING: Evidence = { fold: null, openRetry: null, letter: null };
const waits = (progress = at(1)) => ({ tier: '5s', ...progress, due: 7 });
const retrying = (progress = at(1)): Answer => ({ kind: 'retrying', ...waits(progress) });
const noAnswer = (why: RegExp) => ({ kind: 'unanswered', why: expect.stringMatching(why) as unknown as string });
const GIVEN_UP = entry('exhausted', at(4));

test.each<readonly [string, Partial<Evidence>, object]>([
  ['delivered', said(entry('delivered')), { kind: 'delivered' }],
  ['cancelled', said(entry('cancelled')), { kind: 'cancelled' }],
  [
    'delivered, with a record in a tier',
    { ...said(entry('delivered')), openRetry: waits(at(9)) },
    { kind: 'delivered' },
  ],
  ['exhausted, with its dead letter', { ...said(entry('exhausted')), letter: at(1) }, { kind: 'exhausted' }],
  [
    'exhausted, and sent again since',
    { ...said(entry('exhausted')), letter: at(1), openRetry: waits(at(0, 5)) },
    { kind: 'exhausted' },
  ],
  ['exhausted, without it', said(entry('exhausted')), noAnswer(/dead letters/)],
  [
    'exhausted again, with the dead letter of the chain before',
    { ...said(GIVEN_UP, entry('exhausted', at(1, 5))), letter: at(4) },
    noAnswer(/dead letters/),
  ],
  [
    'exhausted, and a later chain was cancelled',
    { ...said(GIVEN_UP, entry('cancelled', at(0, 5))), letter: at(4) },
    { kind: 'exhausted' },
  ],
  [
    'exhausted, and a later chain was cancelled, without its dead letter',
    { ...said(GIVEN_UP, entry('cancelled', at(0, 5))), letter: at(3) },
    noAnswer(/dead letters/),
  ],
  ['exhausted without it, and still in the tier', { ...said(entry('exhausted')), openRetry: waits() }, retrying()],
  ['retrying, and in the tier', { ...said(entry('retrying')), openRetry: waits() }, retrying()],
  ['retrying, and tried since', { ...said(entry('retrying')), openRetry: waits(at(2)) }, retrying(at(2))],
  [
    'retrying, with the record of the attempt before',
    { ...said(entry('retrying', at(2))), openRetry: waits(at(1)) },
    noAnswer(/in no retry tier/),
  ],
  [
    'sent again, with a record of the chain before',
    { ...said(entry('retrying', at(0, 5))), openRetry: waits(at(9)) },
    noAnswer(/in no retry tier/),
  ],
  ['retrying, in no tier', { ...said(entry('retrying')), letter: at(9) }, noAnswer(/in no retry tier/)],
  ['no entry, in a tier', { openRetry: waits(at(0)) }, retrying(at(0))],
  ['no entry, a dead letter', { letter: at(0) }, { kind: 'exhausted' }],
  ['no entry, a dead letter of the last attempt', { openRetry: waits(at(4)), letter: at(5) }, { kind: 'exhausted' }],
  ['no entry, deferred until its time was over', { openRetry: waits(at(4)), letter: at(4) }, { kind: 'exhausted' }],
  ['no entry, sent again', { openRetry: waits(at(0, 6)), letter: at(5) }, retrying(at(0, 6))],
  ['no entry at all', {}, noAnswer(/no record of the delivery/)],
])('%s', (_, evidence, answer) => {
  expect(answerOf({ ...NOTHING, ...evidence }, false)).toEqual(answer);
});

test.each<Partial<Evidence>>([{}, said(entry('exhausted')), said(entry('retrying'))])(
  'whose payment comes again, and with it what is missing: %j waits',
  (evidence) => {
    expect(answerOf({ ...NOTHING, ...evidence }, true)).toEqual({ kind: 'waiting' });
  },
);

test('an answer that is there holds, even if its payment comes again', () => {
  expect(answerOf({ ...NOTHING, ...said(entry('delivered')) }, true)).toEqual({ kind: 'delivered' });
  expect(answerOf({ ...NOTHING, ...said(entry('retrying')), openRetry: waits() }, true)).toEqual(retrying());
});

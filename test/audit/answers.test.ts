/** The answer that the evidence of a delivery gives. */
import { readFileSync } from 'node:fs';
import * as queries from '../../src/audit/queries.js';
import { Report } from '../../src/audit/report.js';
import { AuditTables } from '../../src/audit/tables.js';
import type { DeliveryStatus, Outcome } from '../../src/ports/delivery-order.js';
import { scratchInMemory } from '../support/scenes/scratch-in-memory.js';

type Progress = Pick<DeliveryStatus, 'chain' | 'attempts'>;

interface Evidence {
  readonly entries?: readonly DeliveryStatus[];
  readonly openRetry?: Progress & { readonly tier: string; readonly due: number };
  readonly letter?: Progress;
}

const at = (attempts: number, chain = 0) => ({ chain, attempts });
const entry = (outcome: Outcome, progress = at(1)): DeliveryStatus => ({
  ...{ outcome, ...progress },
  ...{ at: 0, nextAttemptAt: null },
});
const said = (...entries: DeliveryStatus[]): Evidence => ({ entries });
const waits = (progress = at(1)) => ({ tier: '5s', ...progress, due: 7 });
const RETRYING = { retrying: { '5s': 1 } };
const noAnswer = (why: RegExp) => ({ why: expect.stringMatching(why) as unknown as string });
const GIVEN_UP = entry('exhausted', at(4));

test.each<readonly [string, Evidence, object]>([
  ['delivered', said(entry('delivered')), { delivered: 1 }],
  ['cancelled', said(entry('cancelled')), { cancelled: 1 }],
  ['delivered, with a record in a tier', { ...said(entry('delivered')), openRetry: waits(at(9)) }, { delivered: 1 }],
  ['exhausted, with its dead letter', { ...said(entry('exhausted')), letter: at(1) }, { exhausted: 1 }],
  [
    'exhausted, and sent again since',
    { ...said(entry('exhausted')), letter: at(1), openRetry: waits(at(0, 5)) },
    { exhausted: 1 },
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
    { exhausted: 1 },
  ],
  [
    'exhausted, and a later chain was cancelled, without its dead letter',
    { ...said(GIVEN_UP, entry('cancelled', at(0, 5))), letter: at(3) },
    noAnswer(/dead letters/),
  ],
  ['exhausted without it, and still in the tier', { ...said(entry('exhausted')), openRetry: waits() }, RETRYING],
  ['retrying, and in the tier', { ...said(entry('retrying')), openRetry: waits() }, RETRYING],
  ['retrying, and tried since', { ...said(entry('retrying')), openRetry: waits(at(2)) }, RETRYING],
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
  ['no entry, in a tier', { openRetry: waits(at(0)) }, RETRYING],
  ['no entry, a dead letter', { letter: at(0) }, { exhausted: 1 }],
  ['no entry, a dead letter of the last attempt', { openRetry: waits(at(4)), letter: at(5) }, { exhausted: 1 }],
  ['no entry, deferred until its time was over', { openRetry: waits(at(4)), letter: at(4) }, { exhausted: 1 }],
  ['no entry, sent again', { openRetry: waits(at(0, 6)), letter: at(5) }, RETRYING],
  ['no entry at all', {}, noAnswer(/no record of the delivery/)],
])('the evidence says what became of a delivery: %s', (_, evidence, answer) => {
  expect(answerOf(evidence, false)).toMatchObject(answer);
});

test.each<Evidence>([{}, said(entry('exhausted')), said(entry('retrying'))])(
  'whose payment comes again, and with it what is missing: %j waits',
  (evidence) => {
    expect(answerOf(evidence, true)).toMatchObject({ waiting: 1 });
  },
);

test('an answer that is there holds, even if its payment comes again', () => {
  expect(answerOf(said(entry('delivered')), true)).toMatchObject({ delivered: 1, waiting: 0 });
  expect(answerOf({ ...said(entry('retrying')), openRetry: waits() }, true)).toMatchObject(RETRYING);
});

/** Of a delivery that has to have one. */
function answerOf({ entries = [], openRetry, letter }: Evidence, open: boolean) {
  const tables = new AuditTables(scratchInMemory());
  const { scratch } = tables;
  const part = tables.part({ topic: 'payments', partition: 0 });
  const about = { part, offset: 0, at: 0, account: 42, webhook: 1 };
  scratch.run(queries.RECORD, { ...about, kind: 'payment', open: Number(open), type: 'cash_in', event: 'pay-1' });
  scratch.run(queries.ROUTED, { ...about, own: 0, routed: 0, confirmed: 0, webhooks: '[1]' });
  scratch.run(queries.DEMANDED, { first: 1 });
  for (const status of entries) tables.says(about, 'pay-1', status);
  if (openRetry) scratch.run(queries.TIERED, { ...about, ...openRetry });
  if (letter) scratch.run(queries.ENDED, { ...about, ...letter });
  const report = new Report(scratch);
  const [unanswered] = report.found('unanswered');
  expect(report.counts).toMatchObject({ deliveries: 1, unanswered: unanswered ? 1 : 0 });
  return { ...report.counts, why: unanswered?.why };
}

test.each(['DEMANDED', 'UNEXPECTED', 'UNANSWERED', 'WAITING', 'HELD'])(
  'the rule %s is a query, as docs/audit.md says',
  (name) => {
    expect(queries).toHaveProperty(name, expect.any(String));
    expect(readFileSync('docs/audit.md', 'utf8')).toContain(`\`${name}\``);
  },
);

/** audit completeness: the result of a period's payment events, from the topics and the event store themselves. */
import type { Command } from 'commander';
import { auditCompleteness } from '../audit/completeness.js';
import type { Lost } from '../audit/lost.js';
import type { CompletenessParts, Period } from '../audit/reading.js';
import type { Counts, Finding, HeldBack, Report } from '../audit/report.js';
import { heldBackText, retryGroup, topicsOf } from '../delivery/topics.js';
import { topicRecords } from '../ports/topic-records.js';
import { command, option, type Running, required } from './command.js';
import {
  accountIdArgument,
  assertRegistered,
  type CommandIo,
  SCRATCH_OPTION,
  type ScratchOption,
  timeArgument,
} from './command-io.js';

const PROGRESS_EVERY_MS = 3_000;

interface Options extends ScratchOption {
  readonly from: number;
  readonly to: number;
  readonly account?: number;
  readonly allowLost?: boolean;
}

export function completenessCommand(audit: Command, io: CommandIo): void {
  command<Options>(audit, io, {
    name: 'completeness',
    says: "report the outcome of a period's payment events at every webhook that was due; exit code 1 if a delivery has no answer or went to a webhook that was not active, if topics lost records, or if an open transaction holds records back",
    options: [
      required('--from <time>', 'start of the period, in ISO 8601: 2026-11-21T09:00:00Z', timeArgument),
      required('--to <time>', 'end of the period (exclusive)', timeArgument),
      option('--account <id>', 'only payment events of this account', accountIdArgument),
      option('--allow-lost', 'exit code 0 even if topics no longer have all records of the period'),
      SCRATCH_OPTION(),
    ],
    run: completeness,
  });
}

async function completeness(running: Running<Options>): Promise<void> {
  const { from, to, account = null, allowLost, scratch: folder } = running.options;
  if (from > to) running.refuse('--from is later than --to');
  const { paymentTopics, topicPrefix, delivery } = running.config;
  const topics = topicsOf(paymentTopics, topicPrefix);
  const groups = { payments: delivery.group, retries: retryGroup(delivery.group) };
  const period = { from, to, account };
  const { broker, store } = await running.open();
  const records: CompletenessParts['records'] = (topic, options) => topicRecords(broker, topic, options);
  const scratch: CompletenessParts['scratch'] = (bytes) => running.scratch(folder, bytes);
  const parts = { broker, records, store, topics, groups, scratch, progress: progress() };
  const report = await auditCompleteness(parts, period);
  if (report.counts.events === 0 && account !== null) await assertRegistered(store, account);
  for (const line of running.json ? jsonLines(report, period) : textLines(report)) await running.say(line);
  running.wrong(...failures(report, allowLost));
}

function failures({ counts, held, lost }: Report, allowLost = false): string[] {
  const { unanswered, unexpected } = counts;
  const behind = held.reduce((sum, { records }) => sum + records, 0);
  const topics = allowLost ? '' : [...new Set(lost.map(({ topic }) => topic))].join(', ');
  return [
    ...(unanswered > 0 ? [`${unanswered} without an answer`] : []),
    ...(unexpected > 0 ? [`${unexpected} to a webhook that was not active`] : []),
    ...(behind > 0 ? [`${behind} records behind an open transaction`] : []),
    ...(topics ? [`records of the period may be lost from ${topics} (--allow-lost accepts that)`] : []),
  ];
}

type Found = Finding | Lost | HeldBack;

function* jsonLines(report: Report, { from, to, account }: Period): Iterable<string> {
  for (const found of findings(report)) yield JSON.stringify(found);
  const period = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), account };
  yield JSON.stringify({ kind: 'summary', ...period, ...report.counts });
}

function* textLines(report: Report): Iterable<string> {
  for (const [name, count] of countLines(report.counts)) yield `${name.padEnd(10)}  ${count}`;
  for (const found of findings(report)) yield lineOf(found);
}

function* findings(report: Report): Iterable<Found> {
  yield* report.lost;
  yield* report.held;
  yield* report.found('open');
  yield* report.found('unanswered');
  yield* report.found('unexpected');
}

function countLines({ retrying, ...counts }: Counts): readonly (readonly [string, string | number])[] {
  const tiers = Object.entries(retrying);
  const waiting = tiers.reduce((sum, [, count]) => sum + count, 0);
  const where = tiers.map(([tier, count]) => `${tier} ${count}`).join(', ');
  return [
    ['records', counts.records],
    ['invalid', counts.invalid],
    ['unreadable', counts.unreadable],
    ['events', counts.events],
    ['not due', counts.notDue],
    ['deliveries', counts.deliveries],
    ['delivered', counts.delivered],
    ['exhausted', counts.exhausted],
    ['cancelled', counts.cancelled],
    ['retrying', where ? `${waiting}  (${where})` : waiting],
    ['waiting', counts.waiting],
    ['no answer', counts.unanswered],
    ['unexpected', counts.unexpected],
  ];
}

function lineOf(found: Found): string {
  switch (found.kind) {
    case 'open':
      return `open        ${deliveryOf(found)}  tier ${found.tier}  next ${found.nextAttemptAt}`;
    case 'unanswered':
      return `no answer   ${deliveryOf(found)}  ${found.why}`;
    case 'unexpected':
      return `unexpected  ${deliveryOf(found)}  the webhook was not active when it was routed`;
    case 'held':
      return `held        ${heldBackText(found)}`;
    case 'lost':
      return `lost        ${found.topic}  ${found.why}`;
    default:
      return found satisfies never;
  }
}

function deliveryOf({ eventId, webhookId, accountId, source }: Finding): string {
  const named = { event: eventId, webhook: webhookId, account: accountId, record: source };
  const parts = Object.entries(named).filter(([, value]) => value !== null);
  return parts.map(([name, value]) => `${name} ${value}`).join('  ');
}

function progress(): (topic: string) => void {
  let lastAt = performance.now();
  let topic = '';
  let records = 0;
  return (name) => {
    records = name === topic ? records + 1 : 1;
    topic = name;
    if (records % 1_000 !== 0 || performance.now() - lastAt < PROGRESS_EVERY_MS) return;
    lastAt = performance.now();
    process.stderr.write(`account-webhooks: ${topic}: ${records} records read\n`);
  };
}

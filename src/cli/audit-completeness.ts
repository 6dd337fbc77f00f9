/** audit completeness: the result of a period's payment events, from the topics and the event store themselves. */
import type { Command } from 'commander';
import { auditCompleteness } from '../audit/completeness.js';
import type { Lost } from '../audit/lost.js';
import type { CompletenessParts, Period } from '../audit/reading.js';
import type { Finding, HeldBack, Report } from '../audit/report.js';
import { retryGroup } from '../delivery/topics.js';
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
  const { KAFKA_GROUP: group } = running.config;
  const groups = { payments: group, retries: retryGroup(group) };
  const period = { from, to, account };
  const { broker, store, topics } = await running.open();
  const records: CompletenessParts['records'] = (topic, options) =>
    withProgress(topic, topicRecords(broker, topic, options));
  const scratch: CompletenessParts['scratch'] = (bytes) => running.scratch(folder, bytes);
  const parts = { broker, records, store, topics, groups, scratch };
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
  for (const [name, count] of Object.entries(report.counts)) yield `${name.padEnd(10)}  ${textOf(count)}`;
  for (const { kind, ...found } of findings(report)) yield `${kind.padEnd(10)}  ${textOf(found)}`;
}

function* findings(report: Report): Iterable<Found> {
  yield* report.lost;
  yield* report.held;
  yield* report.found('open');
  yield* report.found('unanswered');
  yield* report.found('unexpected');
}

/** The names and values of what JSON shows. */
function textOf(value: object | number): string {
  if (typeof value === 'number') return String(value);
  const given = Object.entries(value).filter(([, one]) => one !== null);
  return given.map(([name, one]) => `${name} ${one}`).join('  ');
}

/** It takes minutes: says on stderr every few seconds how far a topic has been read. */
async function* withProgress<T>(topic: string, records: AsyncIterable<T>): AsyncIterable<T> {
  let saidAt = performance.now();
  let read = 0;
  for await (const record of records) {
    yield record;
    read += 1;
    if (read % 1_000 !== 0 || performance.now() - saidAt < PROGRESS_EVERY_MS) continue;
    saidAt = performance.now();
    process.stderr.write(`account-webhooks: ${topic}: ${read} records read\n`);
  }
}

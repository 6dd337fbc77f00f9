/** audit completeness: what became of a period's payment events, from the topics and the event store themselves. */
import type { Command } from 'commander';
import { auditCompleteness, type CompletenessParts } from '../audit/completeness.js';
import type { Period } from '../audit/period-payments.js';
import type { Counts, Open, Report, Unanswered } from '../audit/report.js';
import { topicsOf } from '../delivery/topics.js';
import {
  accountIdArgument,
  CommandFailed,
  type CommandIo,
  JSON_OPTION,
  type JsonOption,
  withBackbone,
} from './command-io.js';
import { assertRegistered } from './registered.js';
import { timeArgument } from './time-argument.js';

/** What takes less says nothing of its progress. */
const PROGRESS_EVERY_MS = 3_000;
const WRONG_USAGE = 2;

interface Options extends JsonOption {
  readonly from: number;
  readonly to: number;
  readonly account?: number;
}

export function completenessCommand(audit: Command, io: CommandIo): void {
  audit
    .command('completeness')
    .description(
      "report the outcome of a period's payment events at every webhook due; exit code 1 if one has no answer",
    )
    .requiredOption('--from <time>', 'start of the period, in ISO 8601: 2026-11-21T09:00:00Z', timeArgument)
    .requiredOption('--to <time>', 'end of the period, itself excluded', timeArgument)
    .option('--account <id>', 'only payment events of this account', accountIdArgument)
    .option(...JSON_OPTION)
    .action(async ({ from, to, account, json = false }: Options, command: Command) => {
      if (from > to) command.error('error: --from is later than --to', { exitCode: WRONG_USAGE });
      await completeness(io, { from, to, account: account ?? null }, json);
    });
}

function completeness(io: CommandIo, period: Period, json: boolean): Promise<void> {
  const config = io.config();
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  return withBackbone(config, async ({ broker, store }) => {
    const report = await auditCompleteness({ broker, store, topics, ...told() }, period);
    const counts = report.counts();
    if (counts.events === 0 && period.account !== null) await assertRegistered(store, period.account);
    await (json ? printJson(io, report, { ...iso(period), ...counts }) : printText(io, report, counts));
    if (counts.unanswered > 0) throw new CommandFailed(`${counts.unanswered} without an answer`);
  });
}

/** One object a line, the counts last. */
async function printJson(io: CommandIo, report: Report, summary: object): Promise<void> {
  for (const open of report.open()) await io.print(JSON.stringify(open));
  for (const unanswered of report.unanswered()) await io.print(JSON.stringify(unanswered));
  await io.print(JSON.stringify({ kind: 'summary', ...summary }));
}

async function printText(io: CommandIo, report: Report, counts: Counts): Promise<void> {
  for (const [name, count] of countLines(counts)) await io.print(`${name.padEnd(10)}  ${count}`);
  for (const open of report.open()) await io.print(openLine(open));
  for (const unanswered of report.unanswered()) await io.print(unansweredLine(unanswered));
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
    ['inactive', counts.inactive],
    ['retrying', where ? `${waiting}  (${where})` : waiting],
    ['no answer', counts.unanswered],
  ];
}

function openLine({ eventId, webhookId, accountId, tier, nextAttemptAt }: Open): string {
  return `open        event ${eventId}  webhook ${webhookId}  account ${accountId}  tier ${tier}  next ${nextAttemptAt}`;
}

function unansweredLine({ eventId, webhookId, accountId, source, why }: Unanswered): string {
  const what = source === null ? `event ${eventId}  webhook ${webhookId}  account ${accountId}` : `record ${source}`;
  return `no answer   ${what}  ${why}`;
}

function iso({ from, to, account }: Period) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), account };
}

/** What is said on stderr meanwhile. */
function told(): Pick<CompletenessParts, 'progress' | 'mayLack'> {
  const say = (line: string) => void process.stderr.write(`account-webhooks: ${line}\n`);
  let lastAt = performance.now();
  let topic = '';
  let records = 0;
  return {
    progress(name) {
      records = name === topic ? records + 1 : 1;
      topic = name;
      if (records % 1_000 !== 0 || performance.now() - lastAt < PROGRESS_EVERY_MS) return;
      lastAt = performance.now();
      say(`${topic}: ${records} records read`);
    },
    mayLack(name, before) {
      const time = new Date(before).toISOString();
      say(`${name} no longer keeps all records from before ${time}: some of the period may be missing`);
    },
  };
}

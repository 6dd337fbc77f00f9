/** audit: an account's history, from the event store itself; and the result of payment events. */
import { type Command, Option } from 'commander';
import { type AuditEntry, auditLog, configurationAt, followAuditLog } from '../read-model/account-log.js';
import { changesOf } from '../webhooks/event-changes.js';
import { type AccountEvent, type ClientOwner, ownerText } from '../webhooks/events.js';
import type { Webhook } from '../webhooks/state.js';
import { completenessCommand } from './audit-completeness.js';
import {
  accountIdArgument,
  CommandFailed,
  type CommandIo,
  JSON_OPTION,
  type JsonOption,
  timeArgument,
  untilSignal,
  withBackbone,
} from './command-io.js';

const ACCOUNT_OPTION = ['--account <id>', 'account id', accountIdArgument] as const;

interface LogOptions extends JsonOption {
  readonly account?: number;
  readonly publisher?: string;
  readonly follow?: boolean;
}

interface AtOptions extends JsonOption {
  readonly account: number;
  /** ms since the epoch */
  readonly time: number;
}

export function auditCommand(program: Command, io: CommandIo): void {
  const audit = program
    .command('audit')
    .description('show who configured what and when, and the outcome of payment events');

  const logging = audit
    .command('log')
    .description("print an account's or a publisher's events, oldest first; sealed values stay sealed")
    .option(...ACCOUNT_OPTION)
    .addOption(new Option('--publisher <name>', "a publisher's name").conflicts('account'))
    .option('--follow', 'keep printing new events until Ctrl-C')
    .option(...JSON_OPTION)
    .action((options: LogOptions) => {
      const owner = options.account ?? options.publisher;
      if (owner === undefined)
        return logging.error("error: required option '--account <id>' or '--publisher <name>' not specified");
      return log(owner, options, io);
    });

  audit
    .command('at')
    .description("print an account's webhooks as of a point in time; sealed values stay sealed")
    .requiredOption(...ACCOUNT_OPTION)
    .requiredOption('--time <time>', 'point in time, in ISO 8601: 2026-11-21T09:00:00Z', timeArgument)
    .option(...JSON_OPTION)
    .action((options: AtOptions) => at(options, io));

  completenessCommand(audit, io);
}

function log(owner: ClientOwner, { follow, json }: LogOptions, io: CommandIo): Promise<void> {
  return withBackbone(io.config(), async ({ store }) => {
    const stop = untilSignal();
    let entries = 0;
    try {
      for await (const entry of follow ? followAuditLog(store, owner, stop.signal) : auditLog(store, owner)) {
        entries += 1;
        await io.print(json ? JSON.stringify(entry) : line(entry));
      }
    } finally {
      stop.ignore();
    }
    if (entries === 0 && !follow) throw new CommandFailed(`${ownerText(owner)} is not registered`);
  });
}

function at({ account, time, json }: AtOptions, io: CommandIo): Promise<void> {
  return withBackbone(io.config(), async ({ store }) => {
    const webhooks = await configurationAt(store, account, time);
    if (!webhooks) throw new CommandFailed(`account ${account} was not registered at ${new Date(time).toISOString()}`);
    for (const webhook of webhooks) await io.print(json ? JSON.stringify(webhook) : configured(webhook));
  });
}

function configured({ id, eventType, url, version, isActive, headers }: Webhook): string {
  const names = headers.map(({ key }) => key).join(', ');
  const state = isActive ? 'active' : 'inactive';
  return `webhook ${id}  ${eventType.padEnd(12)}  ${state.padEnd(8)}  v${version}  ${url}  ${names}`.trimEnd();
}

function line({ revision, at, type, actor, data, unreadable }: AuditEntry): string {
  const webhook = data.webhookId === undefined ? '' : `webhook ${data.webhookId} `;
  const event = { type, data } as unknown as AccountEvent;
  const detail = unreadable ? `can't be read: ${unreadable}` : `${webhook}${changesOf(event)}`;
  return `${String(revision).padStart(4)}  ${at}  ${type.padEnd(20)}  ${String(actor).padEnd(28)}  ${detail}`.trimEnd();
}

/** audit: an account's history, from the event store itself; and the result of payment events. */
import type { Command } from 'commander';
import { type AuditEntry, auditLog, configurationAt } from '../read-model/account-log.js';
import { detailsOf, detailsText } from '../webhooks/event-changes.js';
import { type AccountEvent, ownerText } from '../webhooks/events.js';
import type { Webhook } from '../webhooks/state.js';
import { completenessCommand } from './audit-completeness.js';
import { command, option, required } from './command.js';
import { accountIdArgument, CommandFailed, type CommandIo, timeArgument } from './command-io.js';

interface LogOptions {
  readonly account?: number;
  readonly publisher?: string;
}

export function auditCommand(program: Command, io: CommandIo): void {
  const audit = program
    .command('audit')
    .description('show who configured what and when, and the outcome of payment events');
  command<LogOptions>(audit, io, {
    name: 'log',
    says: "print an account's or a publisher's events, oldest first; sealed values stay sealed",
    options: [
      option('--account <id>', 'account id', accountIdArgument),
      option('--publisher <name>', "a publisher's name").conflicts('account'),
    ],
    async run(running) {
      const { account, publisher } = running.options;
      const owner =
        account ??
        publisher ??
        running.refuse("required option '--account <id>' or '--publisher <name>' not specified");
      const { store } = await running.open();
      let entries = 0;
      for await (const entry of auditLog(store, owner)) {
        entries += 1;
        await running.print(entry, line(entry));
      }
      if (entries === 0) throw new CommandFailed(`${ownerText(owner)} is not registered`);
    },
  });
  command<{ readonly account: number; readonly time: number }>(audit, io, {
    name: 'at',
    says: "print an account's webhooks as of a point in time; sealed values stay sealed",
    options: [
      required('--account <id>', 'account id', accountIdArgument),
      required('--time <time>', 'point in time, in ISO 8601: 2026-11-21T09:00:00Z', timeArgument),
    ],
    async run(running) {
      const { account, time } = running.options;
      const webhooks = await configurationAt((await running.open()).store, account, time);
      if (!webhooks)
        throw new CommandFailed(`account ${account} was not registered at ${new Date(time).toISOString()}`);
      for (const webhook of webhooks) await running.print(webhook, configured(webhook));
    },
  });
  completenessCommand(audit, io);
}

function configured({ id, eventType, url, version, isActive, headers }: Webhook): string {
  const names = headers.map(({ key }) => key).join(', ');
  const state = isActive ? 'active' : 'inactive';
  return `webhook ${id}  ${eventType.padEnd(12)}  ${state.padEnd(8)}  v${version}  ${url}  ${names}`.trimEnd();
}

function line({ revision, at, type, actor, data, unreadable }: AuditEntry): string {
  const webhook = data.webhookId === undefined ? '' : `webhook ${data.webhookId} `;
  const event = { type, data } as unknown as AccountEvent;
  const detail = unreadable ? `can't be read: ${unreadable}` : `${webhook}${detailsText(detailsOf(event))}`;
  return `${String(revision).padStart(4)}  ${at}  ${type.padEnd(20)}  ${String(actor).padEnd(28)}  ${detail}`.trimEnd();
}

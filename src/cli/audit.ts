/** audit: an account's history, from the event store itself. */
import type { Command } from 'commander';
import { type AuditEntry, auditLog } from '../audit/log.js';
import { accountIdArgument, CommandFailed, type CommandIo, JSON_OPTION, withBackbone } from './command-io.js';

export function auditCommand(program: Command, io: CommandIo): void {
  const audit = program.command('audit').description('what was configured, by whom, when');

  audit
    .command('log')
    .description("an account's events, oldest first; sealed values stay sealed")
    .requiredOption('--account <id>', 'the account', accountIdArgument)
    .option(...JSON_OPTION)
    .action(({ account, json }: { account: number; json?: boolean }) =>
      withBackbone(io.config(), async ({ store }) => {
        let entries = 0;
        for await (const entry of auditLog(store, account)) {
          entries += 1;
          await io.print(json ? JSON.stringify(entry) : line(entry));
        }
        if (entries === 0) throw new CommandFailed(`account ${account} is not registered`);
      }),
    );
}

function line({ revision, at, type, actor, data }: AuditEntry): string {
  const { webhookId, eventType, url, version, clientId, reason, accountId } = data;
  const webhook = webhookId === undefined ? undefined : `webhook ${webhookId}`;
  const account = accountId === undefined ? undefined : `account ${accountId}`;
  const detail = [account, webhook, eventType, url, version && `v${version}`, clientId, reason]
    .filter(Boolean)
    .join(' ');
  return `${String(revision).padStart(4)}  ${at}  ${type.padEnd(19)}  ${String(actor).padEnd(28)}  ${detail}`.trimEnd();
}

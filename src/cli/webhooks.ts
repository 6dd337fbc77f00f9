/** webhooks: a REST client of a running service. */
import type { Command } from 'commander';
import type { GivenHeader } from '../webhooks/header-rules.js';
import { CommandFailed, type CommandIo, JSON_OPTION, pipedSecret } from './command-io.js';
import { ask, serviceUrl, URL_OPTION } from './service-client.js';

const TOKEN_OPTION = ['--token <token>', 'access token (default: read from stdin)'] as const;

interface ClientOptions {
  readonly token?: string;
  readonly url?: string;
  readonly json?: boolean;
}

interface WebhookList {
  readonly webhooks: readonly { id: number; type: string; url: string; isActive: boolean; createdAt: string }[];
}

export function webhooksCommand(program: Command, io: CommandIo): void {
  const webhooks = program.command('webhooks').description('register and list webhooks through a running service');

  webhooks
    .command('add')
    .description('register a URL for an event type, or update the existing webhook')
    .argument('<webhookUrl>', 'https URL that receives the events')
    .argument('<eventType>', 'cash_in, cash_out, refund_in, refund_out, med_created, med_accepted or med_rejected')
    .option(
      '--header <header>',
      'request header of each delivery, as "Name: value"; up to 5 times',
      (given: string, before: readonly GivenHeader[] = []) => [...before, header(given, webhooks)],
    )
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (url: string, eventType: string, options: ClientOptions & { header?: readonly GivenHeader[] }) => {
      const json = { url, eventType, headers: options.header ?? [] };
      const body = await call<{ message: string }>(io, options, { method: 'POST', json });
      await io.print(options.json ? JSON.stringify(body) : body.message);
    });

  webhooks
    .command('list')
    .description("list the account's webhooks")
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (options: ClientOptions) => {
      const body = await call<WebhookList>(io, options, { method: 'GET' });
      if (options.json) return io.print(JSON.stringify(body));
      for (const { id, type, url, isActive, createdAt } of body.webhooks) {
        await io.print(`${id}  ${createdAt}  ${type.padEnd(12)}  ${isActive ? 'active  ' : 'inactive'}  ${url}`);
      }
    });
}

async function call<T>(
  io: CommandIo,
  options: ClientOptions,
  request: { method: 'GET' | 'POST'; json?: object },
): Promise<T> {
  const token = options.token ?? (await pipedSecret(io));
  if (!token) throw new CommandFailed('no access token: pass --token, or pipe one to stdin');
  const headers = { authorization: `Bearer ${token}` };
  return ask<T>(serviceUrl(options.url, io.config), { ...request, path: '/api/webhooks', headers });
}

/** Not an InvalidArgumentError, which shows the value: usually a secret. */
function header(given: string, command: Command): GivenHeader {
  const colon = given.indexOf(':');
  if (colon < 1) command.error('error: --header must be "Name: value"');
  return { key: given.slice(0, colon), value: given.slice(colon + 1).trim() };
}

/** webhooks: a REST client of a running service. */
import { type Command, Option } from 'commander';
import type { GivenHeader } from '../webhooks/limits.js';
import { accountClient, type ClientOptions, TOKEN_OPTION } from './account-client.js';
import { type CommandIo, JSON_OPTION } from './command-io.js';
import { recoverCommand } from './recover.js';
import { URL_OPTION } from './service-client.js';

const PATH = '/api/webhooks';

interface WebhookList {
  readonly webhooks: readonly { id: number; type: string; url: string; isActive: boolean; createdAt: string }[];
}

interface ChangeOptions extends ClientOptions {
  readonly header?: readonly GivenHeader[];
  readonly active?: string;
}

export function webhooksCommand(program: Command, io: CommandIo): void {
  const webhooks = program
    .command('webhooks')
    .description('register, change, list and recover webhooks through a running service');
  const headerOption = [
    '--header <header>',
    'request header of each delivery, as "Name: value"; up to 5 times',
    (given: string, before: readonly GivenHeader[] = []) => [...before, header(given, webhooks)],
  ] as const;
  recoverCommand(webhooks, io);

  webhooks
    .command('add')
    .description('register a URL for an event type, or update the existing webhook')
    .argument('<webhookUrl>', 'https URL that receives the events')
    .argument('<eventType>', 'cash_in, cash_out, refund_in, refund_out, med_created, med_accepted or med_rejected')
    .option(...headerOption)
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (url: string, eventType: string, options: ChangeOptions) => {
      const json = { url, eventType, headers: options.header ?? [] };
      const call = await accountClient(io, options);
      const body = await call<{ message: string }>({ method: 'POST', path: PATH, json });
      await io.print(options.json ? JSON.stringify(body) : body.message);
    });

  webhooks
    .command('update')
    .description('change a webhook, which keeps its id; what is not given stays')
    .argument('<id>', 'id of the webhook, as `webhooks list` prints it')
    .argument('[webhookUrl]', 'another https URL: gets what waits too, and the headers that the webhook has')
    .option(...headerOption)
    .addOption(new Option('--active <boolean>', 'whether events are sent to it').choices(['true', 'false']))
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (id: string, url: string | undefined, options: ChangeOptions) => {
      const json = { url, headers: options.header, isActive: options.active && options.active === 'true' };
      const path = `${PATH}/${encodeURIComponent(id)}`;
      const call = await accountClient(io, options);
      const body = await call<{ message: string }>({ method: 'PATCH', path, json });
      await io.print(options.json ? JSON.stringify(body) : body.message);
    });

  webhooks
    .command('list')
    .description("list the account's webhooks")
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (options: ClientOptions) => {
      const call = await accountClient(io, options);
      const body = await call<WebhookList>({ method: 'GET', path: PATH });
      if (options.json) return io.print(JSON.stringify(body));
      for (const { id, type, url, isActive, createdAt } of body.webhooks) {
        await io.print(`${id}  ${createdAt}  ${type.padEnd(12)}  ${isActive ? 'active  ' : 'inactive'}  ${url}`);
      }
    });
}

/** Not an InvalidArgumentError, which shows the value: usually a secret. */
function header(given: string, command: Command): GivenHeader {
  const colon = given.indexOf(':');
  if (colon < 1) command.error('error: --header must be "Name: value"');
  return { key: given.slice(0, colon), value: given.slice(colon + 1).trim() };
}

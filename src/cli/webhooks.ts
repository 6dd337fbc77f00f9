/**
 * webhooks: a REST client of a running service, with the account's token: it alone has the view of deliveries, and its limits
 * and the account's history hold here too.
 */
import type { Command } from 'commander';
import type { GivenHeader } from '../webhooks/limits.js';
import { command, option, required } from './command.js';
import { type CommandIo, timeArgument, wholeArgument } from './command-io.js';
import { accountClient, CLIENT_OPTIONS, type ClientOptions, callOnce } from './service-client.js';

const PATH = '/api/webhooks';
const whole = wholeArgument('Write a whole number, 1 or greater.');

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
  const headerOption = () =>
    option(
      '--header <header>',
      'request header of each delivery, as "Name: value"; up to 5 times',
      (given, before: readonly GivenHeader[] = []) => [...before, header(given, webhooks)],
    );
  recoverCommand(webhooks, io);
  command<ChangeOptions, [url: string, eventType: string]>(webhooks, io, {
    name: 'add',
    says: 'register a URL for an event type, or update the existing webhook',
    args: [
      ['<webhookUrl>', 'https URL that receives the events'],
      ['<eventType>', 'cash_in, cash_out, refund_in, refund_out, med_created, med_accepted or med_rejected'],
    ],
    options: [headerOption(), ...CLIENT_OPTIONS()],
    run(running) {
      const [url, eventType] = running.args;
      const json = { url, eventType, headers: running.options.header ?? [] };
      return callOnce(running, { method: 'POST', path: PATH, json });
    },
  });
  command<ChangeOptions, [id: string, url?: string]>(webhooks, io, {
    name: 'update',
    says: 'change a webhook, which keeps its id; what is not given stays',
    args: [
      ['<id>', 'id of the webhook, as `webhooks list` prints it'],
      ['[webhookUrl]', 'another https URL: gets what waits too, and the headers that the webhook has'],
    ],
    options: [
      headerOption(),
      option('--active <boolean>', 'whether events are sent to it').choices(['true', 'false']),
      ...CLIENT_OPTIONS(),
    ],
    run(running) {
      const [id, url] = running.args;
      const { header: headers, active } = running.options;
      const json = { url, headers, isActive: active && active === 'true' };
      return callOnce(running, { method: 'PATCH', path: `${PATH}/${encodeURIComponent(id)}`, json });
    },
  });
  command<ClientOptions>(webhooks, io, {
    name: 'list',
    says: "list the account's webhooks",
    options: CLIENT_OPTIONS(),
    async run(running) {
      const call = await accountClient(running);
      const body = await call<WebhookList>({ method: 'GET', path: PATH });
      const lines = body.webhooks.map(
        ({ id, type, url, isActive, createdAt }) =>
          `${id}  ${createdAt}  ${type.padEnd(12)}  ${isActive ? 'active  ' : 'inactive'}  ${url}`,
      );
      await running.print(body, ...lines);
    },
  });
}

/** Not an InvalidArgumentError, which shows the value: usually a secret. */
function header(given: string, command: Command): GivenHeader {
  const colon = given.indexOf(':');
  if (colon < 1) command.error('error: --header must be "Name: value"');
  return { key: given.slice(0, colon), value: given.slice(colon + 1).trim() };
}

interface RecoverOptions extends ClientOptions {
  readonly since: number;
  readonly until?: number;
  readonly include?: string;
  readonly perSecond?: number;
}

function recoverCommand(webhooks: Command, io: CommandIo): void {
  command<RecoverOptions, [id: number]>(webhooks, io, {
    name: 'recover',
    says: 'send the deliveries of a webhook again, through a running service',
    args: [['<id>', 'webhook id', whole]],
    options: [
      required('--since <time>', 'deliveries of events that were published then or later', timeArgument),
      option('--until <time>', 'and before this time (default: now)', timeArgument),
      option('--include <kinds>', 'exhausted, retrying, held (default: these three), missed'),
      option('--per-second <count>', 'at most so many in a second (default: 20)', whole),
      ...CLIENT_OPTIONS(),
    ],
    run(running) {
      const { since, until, include, perSecond } = running.options;
      const iso = (ms: number) => new Date(ms).toISOString();
      const json = {
        since: iso(since),
        until: until === undefined ? until : iso(until),
        include: include?.split(',').map((kind) => kind.trim()),
        perSecond,
      };
      return callOnce(running, { method: 'POST', path: `${PATH}/${running.args[0]}/recover`, json });
    },
  });
}

/**
 * webhooks: a REST client of a running service, with the account's token: it alone has the view of deliveries, and its limits
 * and the account's history hold here too.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { GivenHeader } from '../webhooks/limits.js';
import { CommandFailed, type CommandIo, timeArgument, wholeArgument } from './command-io.js';
import {
  type AccountCall,
  accountClient,
  asClient,
  type ClientOptions,
  callOnce,
  RequestFailed,
} from './service-client.js';

const PATH = '/api/webhooks';
const LOOK_EVERY_MS = 1_000;
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
  const headerOption = [
    '--header <header>',
    'request header of each delivery, as "Name: value"; up to 5 times',
    (given: string, before: readonly GivenHeader[] = []) => [...before, header(given, webhooks)],
  ] as const;
  recoverCommand(webhooks, io);

  const add = webhooks
    .command('add')
    .description('register a URL for an event type, or update the existing webhook')
    .argument('<webhookUrl>', 'https URL that receives the events')
    .argument('<eventType>', 'cash_in, cash_out, refund_in, refund_out, med_created, med_accepted or med_rejected')
    .option(...headerOption);
  asClient(add).action((url: string, eventType: string, options: ChangeOptions) => {
    const json = { url, eventType, headers: options.header ?? [] };
    return callOnce(io, options, { method: 'POST', path: PATH, json });
  });

  const update = webhooks
    .command('update')
    .description('change a webhook, which keeps its id; what is not given stays')
    .argument('<id>', 'id of the webhook, as `webhooks list` prints it')
    .argument('[webhookUrl]', 'another https URL: gets what waits too, and the headers that the webhook has')
    .option(...headerOption)
    .addOption(new Option('--active <boolean>', 'whether events are sent to it').choices(['true', 'false']));
  asClient(update).action((id: string, url: string | undefined, options: ChangeOptions) => {
    const json = { url, headers: options.header, isActive: options.active && options.active === 'true' };
    return callOnce(io, options, { method: 'PATCH', path: `${PATH}/${encodeURIComponent(id)}`, json });
  });

  const list = webhooks.command('list').description("list the account's webhooks");
  asClient(list).action(async (options: ClientOptions) => {
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

interface RecoverOptions extends ClientOptions {
  readonly since: number;
  readonly until?: number;
  readonly include?: string;
  readonly perSecond?: number;
  readonly wait?: boolean;
}

interface Progress {
  readonly state: string;
  readonly count: number;
  readonly sent: number;
  readonly delivered: number;
  readonly failed: number;
  readonly passedBy: number | null;
}

function recoverCommand(webhooks: Command, io: CommandIo): void {
  const recover = webhooks
    .command('recover')
    .description('send the deliveries of a webhook again, through a running service')
    .argument('<id>', 'webhook id', whole)
    .requiredOption('--since <time>', 'deliveries of events that were published then or later', timeArgument)
    .option('--until <time>', 'and before this time (default: now)', timeArgument)
    .option('--include <kinds>', 'exhausted, retrying, held (default: these three), missed')
    .option('--per-second <count>', 'at most so many in a second (default: 20)', whole)
    .option('--wait', 'wait for its end, with its progress on stderr');
  asClient(recover).action(async (id: number, options: RecoverOptions) => {
    const call = await accountClient(io, options);
    const path = `${PATH}/${id}/recover`;
    const since = new Date(options.since).toISOString();
    const until = options.until === undefined ? undefined : new Date(options.until).toISOString();
    const include = options.include?.split(',').map((kind) => kind.trim());
    const query = new URLSearchParams({
      since,
      ...(until && { until }),
      ...(include && { include: include.join() }),
    });
    const { count, oldest, newest } = await call<{ count: number; oldest: string | null; newest: string | null }>({
      method: 'GET',
      path: `${path}?${query}`,
    });
    await io.warn(count === 0 ? 'no deliveries' : `${count} deliveries, published from ${oldest} to ${newest}`);
    const json = { since, until, include, perSecond: options.perSecond };
    const started = await call<{ id: string; message: string }>({ method: 'POST', path, json });
    if (!options.wait) return io.print(options.json ? JSON.stringify(started) : `${started.id}  ${started.message}`);
    const ended = await waitForEnd(call, started.id, io);
    await io.print(
      options.json ? JSON.stringify({ id: started.id, ...ended }) : `${ended.state}: ${progressLine(ended)}`,
    );
    if (ended.state !== 'done') throw new CommandFailed('the recovery was stopped before its end');
  });
}

async function waitForEnd(call: AccountCall, id: string, io: CommandIo): Promise<Progress> {
  for (let before = ''; ; ) {
    const progress = await progressOf(call, id);
    const line = progress ? progressLine(progress) : before;
    if (line !== before) await io.warn(line);
    before = line;
    if (progress && progress.state !== 'running') return progress;
    await delay(LOOK_EVERY_MS);
  }
}

/** Null: the service does not say now; the recovery goes on all the same. */
async function progressOf(call: AccountCall, id: string): Promise<Progress | null> {
  try {
    return await call<Progress>({ method: 'GET', path: `/api/recoveries/${id}` });
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    if (error.passes) return null;
    throw new CommandFailed(`${error.message}; recovery ${id} goes on`);
  }
}

function progressLine({ count, sent, delivered, failed, passedBy }: Progress): string {
  const progress = `sent ${sent} of ${count}, ${delivered} delivered, ${failed} failed`;
  return passedBy ? `${progress}, ${passedBy} could not be sent` : progress;
}

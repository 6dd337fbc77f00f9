/**
 * Sending again: `deliveries resend` and `webhooks recover`. Both are clients of the running service, with the account's
 * token: it alone has the view of deliveries, and its limits and the account's history hold here too.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandFailed, type CommandIo, JSON_OPTION, timeArgument } from './command-io.js';
import {
  type AccountCall,
  accountClient,
  type ClientOptions,
  RequestFailed,
  TOKEN_OPTION,
  URL_OPTION,
} from './service-client.js';

const LOOK_EVERY_MS = 1_000;

export function resendCommand(deliveries: Command, io: CommandIo): void {
  deliveries
    .command('resend')
    .description('send a delivery again, through a running service')
    .argument('<id>', 'the webhook-id')
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (id: string, options: ClientOptions) => {
      const call = await accountClient(io, options);
      const path = `/api/deliveries/${encodeURIComponent(id)}/resend`;
      const body = await call<{ message: string }>({ method: 'POST', path });
      await io.print(options.json ? JSON.stringify(body) : body.message);
    });
}

interface RecoverOptions extends ClientOptions {
  readonly since: number;
  readonly until?: number;
  readonly include?: string;
  readonly perSecond?: number;
  readonly wait?: boolean;
}

interface Preview {
  readonly count: number;
  readonly oldest: string | null;
  readonly newest: string | null;
}

interface Progress {
  readonly state: string;
  readonly count: number;
  readonly sent: number;
  readonly delivered: number;
  readonly failed: number;
}

export function recoverCommand(webhooks: Command, io: CommandIo): void {
  webhooks
    .command('recover')
    .description('send the deliveries of a webhook again, through a running service')
    .argument('<id>', 'webhook id', wholeArgument)
    .requiredOption('--since <time>', 'deliveries of events that were published then or later', timeArgument)
    .option('--until <time>', 'and before this time (default: now)', timeArgument)
    .option('--include <kinds>', 'exhausted, retrying, held (default: all three)')
    .option('--per-second <count>', 'at most so many in a second (default: 20)', wholeArgument)
    .option('--wait', 'wait for its end, with its progress on stderr')
    .option(...TOKEN_OPTION)
    .option(...URL_OPTION)
    .option(...JSON_OPTION)
    .action(async (id: number, options: RecoverOptions) => {
      const call = await accountClient(io, options);
      const path = `/api/webhooks/${id}/recover`;
      const { since, until, include } = spanOf(options);
      const query = new URLSearchParams({
        since,
        ...(until && { until }),
        ...(include && { include: include.join() }),
      });
      const preview = await call<Preview>({ method: 'GET', path: `${path}?${query}` });
      await io.warn(previewLine(preview));
      const json = { since, until, include, perSecond: options.perSecond };
      const started = await call<{ id: string; message: string; count: number }>({ method: 'POST', path, json });
      if (!options.wait) return io.print(options.json ? JSON.stringify(started) : `${started.id}  ${started.message}`);
      const ended = await waitForEnd(call, started.id, io);
      await io.print(
        options.json ? JSON.stringify({ id: started.id, ...ended }) : `${ended.state}: ${progressLine(ended)}`,
      );
      if (ended.state !== 'done') throw new CommandFailed('the recovery was stopped before its end');
    });
}

function spanOf({ since, until, include }: RecoverOptions) {
  return {
    since: new Date(since).toISOString(),
    until: until === undefined ? undefined : new Date(until).toISOString(),
    include: include?.split(',').map((kind) => kind.trim()),
  };
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

function previewLine({ count, oldest, newest }: Preview): string {
  return count === 0 ? 'no deliveries' : `${count} deliveries, published from ${oldest} to ${newest}`;
}

function progressLine({ count, sent, delivered, failed }: Progress): string {
  return `sent ${sent} of ${count}, ${delivered} delivered, ${failed} failed`;
}

function wholeArgument(value: string): number {
  if (/^[1-9]\d{0,14}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Write a whole number, 1 or greater.');
}

/** demo: the whole workflow on this machine, by the commands that anybody has, in a temporary folder and under a minute. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { ROLES, startApp } from '../../composition/app.js';
import { createLogger } from '../../observability/logger.js';
import { command, option } from '../command.js';
import { CommandFailed, type CommandIo, untilSignal } from '../command-io.js';
import { keepDemo } from './keep.js';
import { demoConfig, isSigned, startDemoReceiver } from './receiver.js';
import { paymentOf } from './story.js';

const ACCOUNT = ['--account', '42'];
const EVENTS = 5;
const PATIENCE_MS = 30_000;
/** Refuses its first requests. */
const FAILING = '/failing';
const FAILURES = 2;
const PATHS = ['/ledger', '/mailer', FAILING];

type RunCommandLine = (args: readonly string[], io: CommandIo, complain: (line: string) => void) => Promise<number>;

export function demoCommand(program: Command, io: CommandIo, run: RunCommandLine): void {
  command<{ readonly keep?: boolean }>(program, io, {
    name: 'demo',
    says: 'run the whole story on this machine, in under a minute; leaves nothing behind',
    options: [option('--keep', 'run until Ctrl-C instead, with a day of history, and print a link to the console')],
    json: 'answer with one JSON object on stdout; the story is on stderr',
    async run({ options, json }) {
      const folder = mkdtempSync(join(tmpdir(), 'account-webhooks-demo-'));
      const remove = () => rmSync(folder, { recursive: true, force: true });
      try {
        if (options.keep) return await keepDemo(folder, io, json);
        // Nothing of a demo is worth a stop in order.
        untilSignal().received.then((name) => {
          remove();
          process.exit(name === 'SIGINT' ? 130 : 143);
        });
        const summary = await demo(folder, json ? io.warn : io.print, run);
        if (json) await io.print(JSON.stringify(summary));
      } finally {
        remove();
      }
    },
  });
}

type Say = (line: string) => Promise<void>;

async function demo(folder: string, say: Say, runCommandLine: RunCommandLine): Promise<object> {
  const receiver = await startDemoReceiver((path, n) => ({ status: path === FAILING && n <= FAILURES ? 503 : 200 }));
  // Short delays, so that a retry is visible while one waits.
  const config = demoConfig(folder, [receiver], { RETRY_SCHEDULE: '1s,2s,4s' });
  const app = await startApp(config, ROLES, createLogger('error'));
  const run = async (args: readonly string[], stdin = ''): Promise<readonly string[]> => {
    const lines: string[] = [];
    const print = async (line: string) => void lines.push(line);
    const io = { stdin: Readable.from([Buffer.from(stdin)]), print, warn: say, config: () => config };
    await runCommandLine(args, io, (line) => lines.push(line));
    return lines;
  };
  /** Says the command, without the hidden arguments, and its answer, without secrets. */
  const show = async (args: readonly string[], hidden: readonly string[] = [], stdin = '') => {
    await say(`   $ account-webhooks ${args.join(' ')}`);
    const lines = await run([...args, ...hidden], stdin);
    for (const line of lines) await say(`   ${line.replace(/(?<=Secret +)\S+|^eyJ\S+$/, '...')}`);
    return lines;
  };
  try {
    await say('1. An account is registered');
    const account = Object.fromEntries((await show(['accounts', 'register', '42'])).map((line) => line.split(/ +/)));
    await say('2. Its REST client gets a token and registers three webhooks; a fourth for the type is refused');
    const at = ['--url', `http://127.0.0.1:${app.apiPort}`];
    const { clientId, clientSecret, signingSecret } = account;
    const [token = ''] = await show(['token', '--client-id', clientId], ['--client-secret', clientSecret, ...at]);
    const client = ['--token', token, ...at];
    for (const path of [...PATHS, '/fourth'])
      await show(['webhooks', 'add', receiver.url + path, 'cash_in', '--header', `X-Api-Key:key of ${path}`], client);
    const webhooks = await show(['webhooks', 'list'], client);
    await say(`3. A payment system publishes ${EVENTS} events`);
    const payments = Array.from({ length: EVENTS }, (_, n) => paymentOf(n, 'cash_in', Date.now()));
    await show(['events', 'publish'], [], payments.join('\n'));
    await say(`4. Each is delivered to each URL, signed; ${FAILING} fails ${FAILURES} times and is retried`);
    await eventually('not every event arrived at every URL', async () => {
      const taken = receiver.arrivals.filter(({ status }) => status === 200);
      return new Set(taken.map(({ path, id }) => `${path} ${id}`)).size === EVENTS * PATHS.length;
    });
    for (const one of receiver.arrivals) {
      const isSound = isSigned(one, signingSecret) && one.headers['x-api-key'] === `key of ${one.path}`;
      if (!isSound) throw new CommandFailed('the demo failed: a signature or a header was wrong');
      await say(
        `   ${one.path.padEnd(8)} <- ${one.id}  ${JSON.parse(one.body).id}  signature good  answered ${one.status}`,
      );
    }
    await say('5. An auditor replays the history, and what was delivered');
    const log = ['audit', 'log', ...ACCOUNT];
    const list = ['deliveries', 'list', ...ACCOUNT];
    await show(log);
    // The log gets the last entries shortly after the receiver's response.
    await eventually('not every delivery was logged', async () => {
      return (await run(list)).filter((line) => line.includes('  delivered  ')).length === EVENTS * PATHS.length;
    });
    await show(list);
    const [history, deliveries] = [await run([...log, '--json']), await run([...list, '--json'])];
    return {
      accountId: 42,
      webhooks: webhooks.length,
      events: EVENTS,
      requests: receiver.arrivals.length,
      history: history.map((line) => JSON.parse(line)),
      deliveries: deliveries.map((line) => JSON.parse(line)),
    };
  } finally {
    await app.close();
    await receiver.close();
  }
}

async function eventually(failure: string, isDone: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await isDone()); await delay(100))
    if (performance.now() > deadline) throw new CommandFailed(`the demo failed: ${failure}`);
}

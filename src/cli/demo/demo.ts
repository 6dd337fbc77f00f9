/** demo: the whole workflow on this machine, by the commands that anybody has, in a temporary folder and under a minute. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { ROLES, startApp } from '../../composition/app.js';
import { createLogger } from '../../observability/logger.js';
import { EVENT_DESCRIPTIONS } from '../../payments/event-descriptions.js';
import { command, option } from '../command.js';
import { CommandFailed, type CommandIo, untilSignal } from '../command-io.js';
import { keepDemo } from './keep.js';
import { demoConfig, isSigned, startDemoReceiver } from './receiver.js';
import { paymentOf } from './story.js';

const EVENTS = 5;
const PATIENCE_MS = 30_000;
/** Refuses its first requests. */
const FAILING = '/failing';
const FAILURES = 2;
const PATHS = ['/ledger', '/mailer', FAILING];
const SECRETS = /(?<=Secret +|--client-secret )\S+|\beyJ\S+/g;

type RunCommandLine = (args: readonly string[], io: CommandIo, complain: (line: string) => void) => Promise<number>;

export function demoCommand(program: Command, io: CommandIo, run: RunCommandLine): void {
  command<{ readonly keep?: boolean }>(program, io, {
    name: 'demo',
    says: 'run the whole story on this machine, in under a minute; leaves nothing behind',
    options: [option('--keep', 'run until Ctrl-C instead, with a day of history, and print a link to the console')],
    json: 'answer with one JSON object on stdout; the story is on stderr; not with --keep',
    async run({ options, json }) {
      const folder = mkdtempSync(join(tmpdir(), 'account-webhooks-demo-'));
      const remove = () => rmSync(folder, { recursive: true, force: true });
      try {
        if (options.keep) return await keepDemo(folder, io);
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

async function demo(folder: string, say: CommandIo['print'], runCommandLine: RunCommandLine): Promise<object> {
  const receiver = await startDemoReceiver((path, n) => ({ status: path === FAILING && n <= FAILURES ? 503 : 200 }));
  // Short delays, so that a retry is visible while one waits.
  const config = demoConfig(folder, receiver, { RETRY_SCHEDULE: '1s,2s,4s' });
  const app = await startApp(config, ROLES, createLogger('error'));
  const run = async (words: string, stdin = ''): Promise<readonly string[]> => {
    const lines: string[] = [];
    const print = async (line: string) => void lines.push(line);
    const io = { stdin: Readable.from([Buffer.from(stdin)]), print, warn: say, config: () => config };
    await runCommandLine(words.split(' '), io, (line) => lines.push(line));
    return lines;
  };
  const show = async (words: string, stdin?: string) => {
    const lines = await run(words, stdin);
    for (const line of [`$ account-webhooks ${words}`, ...lines]) await say(`   ${line.replace(SECRETS, '...')}`);
    return lines;
  };
  try {
    await say('1. An account is registered');
    const account = Object.fromEntries((await show('accounts register 42')).map((line) => line.split(/ +/)));
    await say('2. Its REST client gets a token and registers three webhooks; a fourth for the type is refused');
    const at = `--url http://127.0.0.1:${app.apiPort}`;
    const { clientId, clientSecret, signingSecret } = account;
    const [token] = await show(`token --client-id ${clientId} --client-secret ${clientSecret} ${at}`);
    for (const path of [...PATHS, '/fourth'])
      await show(`webhooks add ${receiver.url}${path} cash_in --header X-Api-Key:${path} --token ${token} ${at}`);
    const webhooks = await show(`webhooks list --token ${token} ${at}`);
    await say(`3. A payment system publishes ${EVENTS} events of the type cash_in: ${EVENT_DESCRIPTIONS.cash_in}`);
    const payments = Array.from({ length: EVENTS }, (_, n) => paymentOf(n, 'cash_in', Date.now()));
    await show('events publish', payments.join('\n'));
    await say(`4. Each is delivered to each URL, signed; ${FAILING} fails ${FAILURES} times and is retried`);
    const list = 'deliveries list --account 42';
    const arrived = async () => (await run(list)).filter((line) => line.includes('  delivered  ')).length;
    for (const end = performance.now() + PATIENCE_MS; (await arrived()) < EVENTS * PATHS.length; await delay(100))
      if (performance.now() > end) throw new CommandFailed('the demo failed: not every event arrived at every URL');
    for (const one of receiver.arrivals) {
      if (!isSigned(one, signingSecret) || one.headers['x-api-key'] !== one.path)
        throw new CommandFailed('the demo failed: a signature or a header was wrong');
      await say(`   ${one.path.padEnd(8)} <- ${one.id}  signature good  answered ${one.status}`);
    }
    await say('5. An auditor replays the history, and what was delivered');
    await show('audit log --account 42');
    await show(list);
    return { accountId: 42, webhooks: webhooks.length, events: EVENTS, requests: receiver.arrivals.length };
  } finally {
    await app.close();
    await receiver.close();
  }
}

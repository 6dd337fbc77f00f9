/** demo --keep: the service with a day of history, a payment every few seconds, and a link to its console, until Ctrl-C. */
import { createInterface } from 'node:readline';
import { type App, ROLES, startApp } from '../../composition/app.js';
import { createLogger } from '../../observability/logger.js';
import { sleep } from '../../time/retry.js';
import { EVENT_TYPES, RIGHTS } from '../../webhooks/limits.js';
import { type CommandIo, localUrl, untilSignal } from '../command-io.js';
import { HttpPublisher } from '../http-publisher.js';
import { ask } from '../service-client.js';
import { requestToken } from '../token.js';
import { type DemoClients, makeDay } from './day.js';
import { demoConfig, startDemoReceiver } from './receiver.js';
import { answerTo, paymentOf, STORY_SETTINGS } from './story.js';

const PAYMENT_EVERY_MS = 4_000;

export async function keepDemo(folder: string, io: CommandIo): Promise<void> {
  const until = Date.now();
  const ending = untilSignal();
  const receiver = await startDemoReceiver((path, _n, payment) => {
    const { decided, body } = answerTo(path, payment, until, Date.now());
    return decided.kind === 'response' ? { status: decided.status, body } : null;
  });
  const config = demoConfig(folder, receiver, STORY_SETTINGS);
  const logger = createLogger('fatal');
  let app: App | null = null;
  try {
    await io.print('Making a day of history ...');
    const clients = await makeDay({ config, logger, receiver: receiver.url, until });
    if (ending.signal.aborted) return;
    app = await startApp(config, ROLES, logger);
    const url = localUrl(config.HOST, app.apiPort ?? 0);
    const link = async () => io.print(`  ${await consoleLink(url, clients)}`);
    await io.print('The service runs, with a day of history and a new payment every few seconds. Its console:');
    await link();
    await io.print('The link works once, within a minute. Enter prints another one. Ctrl-C ends the demo.');
    const another = () => void link().catch((error: Error) => io.warn(error.message));
    createInterface({ input: io.stdin, signal: ending.signal }).on('line', another);
    await Promise.race([publishPayments(url, clients, ending.signal), app.failed]);
  } finally {
    ending.ignore();
    await app?.close();
    await receiver.close();
  }
}

/** A session with all rights. */
async function consoleLink(url: string, { account: { clientId, clientSecret } }: DemoClients): Promise<string> {
  const { access_token: token } = await requestToken(url, [clientId, clientSecret]);
  const request = { path: '/api/portal-sessions', headers: { authorization: `Bearer ${token}` } };
  const json = { can: RIGHTS, user: 'demo' };
  return (await ask<{ url: string }>(url, { ...request, method: 'POST', json })).url;
}

async function publishPayments(url: string, { publisher }: DemoClients, signal: AbortSignal): Promise<void> {
  const http = new HttpPublisher(url, [publisher.clientId, publisher.clientSecret]);
  // Those of the day before have lower numbers.
  for (let n = 9_000; !signal.aborted; n += 1) {
    const type = EVENT_TYPES[n % 3 === 0 ? n % EVENT_TYPES.length : n % 2] ?? 'cash_in';
    await http.publish([{ key: null, value: paymentOf(n, type, Date.now()), headers: [] }]);
    await sleep(PAYMENT_EVERY_MS, signal);
  }
}

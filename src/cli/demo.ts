/** demo: the whole workflow on this machine, in a temporary folder, in under a minute. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { ROLES, startApp } from '../composition/app.js';
import { type DeliveryView, deliveriesOf, deliveryTopics } from '../delivery/log/delivery-log.js';
import { topicsOf } from '../delivery/topics.js';
import { createLogger } from '../observability/logger.js';
import type { Broker } from '../ports/broker.js';
import { type AuditEntry, auditLog } from '../read-model/account-log.js';
import type { Config } from '../settings/config.js';
import { registrationIn } from './accounts.js';
import {
  CommandFailed,
  type CommandIo,
  type JsonOption,
  operatorContext,
  untilSignal,
  withBackbone,
  withScratch,
} from './command-io.js';
import { keepDemo } from './demo-keep.js';
import { type Arrival, type DemoReceiver, demoCertificate, demoConfig, startDemoReceiver } from './demo-receiver.js';
import { ask } from './service-client.js';
import { type Credentials, requestToken } from './token.js';

const ACCOUNT = 42;
const EVENTS = 5;
const URLS = 3;
const PATIENCE_MS = 30_000;
/** The path that refuses its first requests, and how many. */
const FAILING = '/failing';
const FAILURES = 2;

type Print = (line: string) => Promise<void>;

export function demoCommand(program: Command, io: CommandIo): void {
  program
    .command('demo')
    .description('run the whole story on this machine, in under a minute; leaves nothing behind')
    .option('--keep', 'run until Ctrl-C instead, with a day of history, and print a link to the console')
    .option('--json', 'answer with one JSON object on stdout; the story is on stderr')
    .action(async ({ json, keep }: JsonOption & { readonly keep?: boolean }) => {
      const folder = mkdtempSync(join(tmpdir(), 'account-webhooks-demo-'));
      const remove = () => rmSync(folder, { recursive: true, force: true });
      try {
        if (keep) return await keepDemo(folder, io, json ?? false);
        // Nothing of a demo is worth a stop in order.
        untilSignal().received.then((name) => {
          remove();
          process.exit(name === 'SIGINT' ? 130 : 143);
        });
        const summary = await demo(folder, json ? io.warn : io.print);
        if (json) await io.print(JSON.stringify(summary));
      } finally {
        remove();
      }
    });
}

async function demo(folder: string, print: Print): Promise<object> {
  const certificate = await demoCertificate();
  let signingSecret = '';
  const answers = (path: string, n: number) => ({ status: path === FAILING && n <= FAILURES ? 503 : 200 });
  const receiver = await startDemoReceiver(certificate, () => signingSecret, answers);
  // Short delays, so that a retry is visible while one waits.
  const config = demoConfig(folder, certificate, [receiver], { RETRY_SCHEDULE: '1s,2s,4s' });
  const app = await startApp(config, ROLES, createLogger('error'));
  try {
    const account = await registerAccount(config, print);
    signingSecret = account.signingSecret;
    const credentials = [account.clientId, account.clientSecret] as const;
    const webhooks = await registerWebhooks(`http://127.0.0.1:${app.apiPort}`, credentials, receiver, print);
    await publish(config, print);
    const requests = await arrive(receiver, print);
    return { accountId: ACCOUNT, webhooks, events: EVENTS, requests, ...(await replay(config, print)) };
  } finally {
    await app.close();
    await receiver.close();
  }
}

async function registerAccount(config: Config, print: Print) {
  await print(`1. An account is registered (account-webhooks accounts register ${ACCOUNT})`);
  const account = await withBackbone(config, (backbone) =>
    registrationIn(backbone).register(ACCOUNT, operatorContext()),
  );
  await print(`   client id ${account.clientId}, a client secret, and a signing secret whsec_...`);
  return account;
}

async function registerWebhooks(url: string, credentials: Credentials, receiver: DemoReceiver, print: Print) {
  await print('2. Its REST client gets a token and registers three webhooks (POST /api/webhooks)');
  const { access_token: token } = await requestToken(url, credentials);
  const headers = { authorization: `Bearer ${token}` };
  const add = async (path: string) => {
    const key = { key: 'X-Api-Key', value: `key of ${path}` };
    const json = { url: receiver.url + path, eventType: 'cash_in', headers: [key] };
    const { message } = await ask<{ message: string }>(url, { method: 'POST', path: '/api/webhooks', headers, json });
    return message;
  };
  for (const path of ['/ledger', '/mailer', FAILING]) {
    await print(`   cash_in -> ${receiver.url}${path}: ${await add(path)}`);
  }
  const refusal = await add('/fourth').catch((error: Error) => error.message);
  await print(`   a fourth for the type is refused: ${refusal}`);
  const { total } = await ask<{ total: number }>(url, { method: 'GET', path: '/api/webhooks', headers });
  await print(`   GET /api/webhooks lists ${total}`);
  return total;
}

async function publish(config: Config, print: Print): Promise<void> {
  await print(`3. A payment system publishes ${EVENTS} events to ${config.paymentTopics[0]}`);
  const records = Array.from({ length: EVENTS }, (_, n) => {
    const of = { id: `pay-${n + 1}`, type: 'cash_in', accountId: ACCOUNT, timestamp: new Date().toISOString() };
    const value = Buffer.from(JSON.stringify({ ...of, data: { amount: `${n + 1}0.00` } }));
    return { key: Buffer.from(String(ACCOUNT)), value, headers: [] };
  });
  await withBackbone(config, ({ broker }) => broker.publish(config.paymentTopics[0], records));
}

async function arrive({ arrivals }: DemoReceiver, print: Print): Promise<number> {
  await print(`4. Each event is delivered to each URL, signed; ${FAILING} fails ${FAILURES} times and is retried`);
  const pairs = () =>
    arrivals.filter(({ status }) => status === 200).map(({ path, webhookId }) => `${path} ${webhookId}`);
  const deadline = Date.now() + PATIENCE_MS;
  for (let shown = 0, isWhole = false; !isWhole; await delay(20)) {
    if (Date.now() > deadline) throw new CommandFailed('the demo failed: not every event arrived at every URL');
    isWhole = new Set(pairs()).size === EVENTS * URLS;
    for (; shown < arrivals.length; shown += 1) await print(`   ${shownArrival(arrivals[shown] as Arrival)}`);
  }
  if (arrivals.some((arrival) => !arrival.signatureIsGood || arrival.apiKey !== `key of ${arrival.path}`)) {
    throw new CommandFailed('the demo failed: a signature or a header was wrong');
  }
  return arrivals.length;
}

function shownArrival({ path, body, webhookId, signatureIsGood, status, apiKey }: Arrival): string {
  const { id } = JSON.parse(body) as { id: string };
  const signature = signatureIsGood ? 'signature good' : 'SIGNATURE WRONG';
  return `${path.padEnd(8)} <- ${id}  ${webhookId}  x-api-key "${apiKey}"  ${signature}  answered ${status}`;
}

async function replay(config: Config, print: Print) {
  return withBackbone(config, async ({ store, broker }) => {
    await print(`5. An auditor replays the history (account-webhooks audit log --account ${ACCOUNT})`);
    const history: AuditEntry[] = [];
    for await (const entry of auditLog(store, ACCOUNT)) {
      const { at, type, actor, data } = entry;
      history.push(entry);
      await print(`   ${at}  ${type.padEnd(19)}  by ${actor}  ${data.url ?? ''}`.trimEnd());
    }
    await print(`   and what was delivered (account-webhooks deliveries list --account ${ACCOUNT})`);
    const deliveries = await allDelivered(config, broker);
    for (const { id, eventId, outcome, attempts } of deliveries) {
      await print(`   ${id}  ${eventId}  ${outcome}  ${attempts.map(({ status }) => status).join(', ')}`);
    }
    return { history, deliveries };
  });
}

/** The log gets the last entries shortly after the receiver's response. */
async function allDelivered(config: Config, broker: Broker): Promise<readonly DeliveryView[]> {
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const deliveries = await withScratch({ scratch: tmpdir() }, async (open) => [
      ...(await deliveriesOf(ACCOUNT, deliveryTopics(broker, topics), open())),
    ]);
    if (deliveries.filter(({ outcome }) => outcome === 'delivered').length === EVENTS * URLS) return deliveries;
    await delay(20);
  }
  throw new CommandFailed('the demo failed: not every delivery was logged');
}

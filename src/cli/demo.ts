/** demo: the whole workflow on this machine, in a temporary folder, in under a minute. */

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { createRegistration } from '../accounts/registration.js';
import { type AuditEntry, auditLog } from '../audit/log.js';
import { type App, ROLES, startApp } from '../composition/app.js';
import { type DeliveryView, deliveriesOf } from '../delivery/log/delivery-log.js';
import { topicsOf } from '../delivery/topics.js';
import { createLogger } from '../observability/logger.js';
import type { Broker } from '../ports/broker.js';
import { topicRecords } from '../ports/topic-records.js';
import type { Config } from '../settings/config.js';
import { readConfig } from '../settings/read-config.js';
import { CommandFailed, type CommandIo, type JsonOption, operatorContext, withBackbone } from './command-io.js';
import { keepDemo } from './demo-keep.js';
import { type Arrival, type DemoReceiver, demoCertificate, startDemoReceiver } from './demo-receiver.js';
import { ask } from './service-client.js';

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
        endAtOnce(remove);
        const summary = await demo(folder, json ? onStderr : io.print);
        if (json) await io.print(JSON.stringify(summary));
      } finally {
        remove();
      }
    });
}

/** Nothing of a demo is worth a stop in order. */
function endAtOnce(remove: () => void): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      remove();
      process.exit(code);
    });
  }
}

async function onStderr(line: string): Promise<void> {
  process.stderr.write(`${line}\n`);
}

/** @returns the result for --json */
async function demo(folder: string, print: Print): Promise<object> {
  const certificate = await demoCertificate();
  const caFile = join(folder, 'receiver-ca.pem');
  writeFileSync(caFile, certificate.cert);
  let signingSecret = '';
  const answers = (path: string, n: number) => ({ status: path === FAILING && n <= FAILURES ? 503 : 200 });
  const receiver = await startDemoReceiver(certificate, () => signingSecret, answers);
  const config = demoConfig(folder, caFile, receiver.port);
  const app = await startApp(config, ROLES, createLogger('error'));
  try {
    const account = await registerAccount(config, print);
    signingSecret = account.signingSecret;
    const service = { url: `http://127.0.0.1:${app.apiPort}`, ...account };
    const webhooks = await registerWebhooks(service, receiver, print);
    await publish(config, print);
    const requests = await arrive(receiver, print);
    return { accountId: ACCOUNT, webhooks, events: EVENTS, requests, ...(await replay(config, print)) };
  } finally {
    await close(app, receiver);
  }
}

/**
 * The receivers are on this machine, the purpose of ALLOW_PRIVATE_ENDPOINTS. Short delays, so that a retry is visible
 * while one waits.
 */
function demoConfig(folder: string, caFile: string, receiverPort: number): Config {
  return readConfig({
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    ADMIN_PORT: '0',
    RETRY_SCHEDULE: '1s,2s,4s',
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    ALLOWED_PORTS: String(receiverPort),
    DELIVERY_CA_FILE: caFile,
  });
}

async function registerAccount(config: Config, print: Print) {
  await print(`1. An account is registered (account-webhooks accounts register ${ACCOUNT})`);
  const account = await withBackbone(config, ({ store, sealing }) =>
    createRegistration({ store, sealing, randomBytes, newEventId: randomUUID, now: () => new Date() }).register(
      ACCOUNT,
      operatorContext(),
    ),
  );
  await print(`   client id ${account.clientId}, a client secret, and a signing secret whsec_...`);
  return account;
}

async function registerWebhooks(
  service: { url: string; clientId: string; clientSecret: string },
  receiver: DemoReceiver,
  print: Print,
): Promise<number> {
  await print('2. Its REST client gets a token and registers three webhooks (POST /api/webhooks)');
  const { access_token: token } = await ask<{ access_token: string }>(service.url, {
    method: 'POST',
    path: '/oauth/token',
    headers: {},
    form: { grant_type: 'client_credentials', client_id: service.clientId, client_secret: service.clientSecret },
  });
  const headers = { authorization: `Bearer ${token}` };
  const add = (path: string) =>
    ask<{ message: string }>(service.url, {
      method: 'POST',
      path: '/api/webhooks',
      headers,
      json: {
        url: receiver.url + path,
        eventType: 'cash_in',
        headers: [{ key: 'X-Api-Key', value: `key of ${path}` }],
      },
    });
  for (const path of ['/ledger', '/mailer', FAILING]) {
    await print(`   cash_in -> ${receiver.url}${path}: ${(await add(path)).message}`);
  }
  const refusal = await add('/fourth').then(
    () => 'taken',
    (error: Error) => error.message,
  );
  await print(`   a fourth for the type is refused: ${refusal}`);
  const list = await ask<{ total: number }>(service.url, { method: 'GET', path: '/api/webhooks', headers });
  await print(`   GET /api/webhooks lists ${list.total}`);
  return list.total;
}

async function publish(config: Config, print: Print): Promise<void> {
  await print(`3. A payment system publishes ${EVENTS} events to ${config.paymentTopics[0]}`);
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    id: `pay-${n + 1}`,
    type: 'cash_in',
    accountId: ACCOUNT,
    timestamp: new Date().toISOString(),
    data: { amount: `${n + 1}0.00` },
  }));
  const records = events.map((event) => ({
    key: Buffer.from(String(ACCOUNT)),
    value: Buffer.from(JSON.stringify(event)),
    headers: [],
  }));
  await withBackbone(config, ({ broker }) => broker.publish(config.paymentTopics[0], records));
}

/** @returns the number of requests received */
async function arrive({ arrivals }: DemoReceiver, print: Print): Promise<number> {
  await print(`4. Each event is delivered to each URL, signed; ${FAILING} fails ${FAILURES} times and is retried`);
  const deadline = Date.now() + PATIENCE_MS;
  let shown = 0;
  while (new Set(arrivals.filter(({ status }) => status === 200).map(pair)).size < EVENTS * URLS) {
    if (Date.now() > deadline) throw new CommandFailed('the demo failed: not every event arrived at every URL');
    for (const arrival of arrivals.slice(shown)) await print(`   ${shownArrival(arrival)}`);
    shown = arrivals.length;
    await delay(20);
  }
  for (const arrival of arrivals.slice(shown)) await print(`   ${shownArrival(arrival)}`);
  if (arrivals.some((arrival) => !arrival.signatureIsGood || arrival.apiKey !== `key of ${arrival.path}`)) {
    throw new CommandFailed('the demo failed: a signature or a header was wrong');
  }
  return arrivals.length;
}

function pair({ path, webhookId }: Arrival): string {
  return `${path} ${webhookId}`;
}

function shownArrival({ path, body, webhookId, signatureIsGood, status, apiKey }: Arrival): string {
  const { id } = JSON.parse(body) as { id: string };
  const signature = signatureIsGood ? 'signature good' : 'SIGNATURE WRONG';
  return `${path.padEnd(8)} <- ${id}  ${webhookId}  x-api-key "${apiKey}"  ${signature}  answered ${status}`;
}

async function replay(
  config: Config,
  print: Print,
): Promise<{ history: readonly AuditEntry[]; deliveries: readonly DeliveryView[] }> {
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
  const { deliveries: topic } = topicsOf(config.paymentTopics, config.topicPrefix);
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const deliveries = await deliveriesOf(ACCOUNT, topicRecords(broker, topic));
    if (deliveries.filter(({ outcome }) => outcome === 'delivered').length === EVENTS * URLS) return deliveries;
    await delay(20);
  }
  throw new CommandFailed('the demo failed: not every delivery was logged');
}

async function close(app: App, receiver: DemoReceiver): Promise<void> {
  await app.close();
  await receiver.close();
}

/** The start of nearly every end-to-end test: a folder, an account with a token, trusted receivers. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStarved } from '../../runner/patience.js';
import { commandLine } from '../clients/in-process-cli.js';
import type { Settings } from '../clients/service.js';
import { testAuthority } from '../servers/certificates.js';
import type { Receiver } from '../servers/receiver.js';
import type { Backbone } from './backbones.js';
import { temporaryDirectory } from './temporary-directory.js';

const EMBEDDED: Pick<Backbone, 'open'> = { open: null };

export interface Account {
  readonly accountId: number;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
}

/** Settings for a new folder whose service trusts the test receivers on this machine. */
export async function installation(
  receivers: readonly Pick<Receiver, 'port'>[],
  { open }: Pick<Backbone, 'open'> = EMBEDDED,
): Promise<{ settings: Settings; remove: () => Promise<void> }> {
  const folder = temporaryDirectory();
  const backbone = await open?.();
  const caFile = join(folder.path, 'ca.pem');
  writeFileSync(caFile, (await testAuthority()).cert);
  const settings = {
    DATA_DIR: join(folder.path, 'data'),
    ALLOW_PRIVATE_ENDPOINTS: 'true',
    ALLOWED_PORTS: ['443', ...receivers.map(({ port }) => port)].join(),
    DELIVERY_CA_FILE: caFile,
    RETRY_SCHEDULE: '200ms,400ms,800ms',
    LOG_LEVEL: 'info',
    ...backbone?.settings,
  };
  const remove = async () => {
    await backbone?.close();
    folder.remove();
  };
  return { settings, remove };
}

export async function register(settings: Settings, accountId: number): Promise<Account> {
  const { stdout, stderr } = await commandLine(settings, ['accounts', 'register', String(accountId), '--json']);
  if (!stdout) throw new Error(stderr);
  return JSON.parse(stdout) as Account;
}

export async function tokenFor(url: string, { clientId, clientSecret }: Account): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
}

export async function addWebhook(
  url: string,
  token: string,
  webhook: { url: string; eventType: string; headers?: readonly { key: string; value: string }[] },
): Promise<number> {
  const response = await fetch(`${url}/api/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(webhook),
  });
  await response.arrayBuffer();
  return response.status;
}

export interface ListedWebhook {
  readonly id: number;
  readonly type: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The account's list; empty where it is refused. */
export async function listWebhooks(
  { url }: { readonly url: string },
  token: string,
): Promise<{ status: number; webhooks: readonly ListedWebhook[] }> {
  const response = await fetch(`${url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
  const { webhooks = [] } = (await response.json()) as { webhooks?: ListedWebhook[] };
  return { status: response.status, webhooks };
}

/** NDJSON of payment events of one account, with ids from `<prefix>0` on. */
export function paymentEvents(accountId: number, count: number, prefix = 'evt-'): string {
  const event = (n: number) => ({
    id: `${prefix}${n}`,
    type: 'cash_in',
    accountId,
    timestamp: '2026-11-21T09:00:00.000Z',
    data: { amount: '10.00', endToEndId: `E${n}` },
  });
  return Array.from({ length: count }, (_, n) => `${JSON.stringify(event(n))}\n`).join('');
}

const MOST_TRIES = 5;

/**
 * Publishes by the command line. On a starved machine Kafka may not answer the command in time: then again, as producers do
 * that don't know whether a record is durable.
 */
export async function publishEvents(settings: Settings, events: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const { code, stderr } = await commandLine(settings, ['events', 'publish'], events);
    if (code === 0) return;
    if (!isStarved() || tries === MOST_TRIES) throw new Error(`events publish ended with ${code}: ${stderr}`);
  }
}

/**
 * Accounts and webhooks, written to the event store by its own adapter: as the service would write them, but in batches
 * that share a commit. The accounts' histories are interleaved, a thousand accounts at a time.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type Backbone, openBackbone } from '../../src/composition/backbone.js';
import { createLogger } from '../../src/observability/logger.js';
import { type NewEvent, NO_STREAM } from '../../src/ports/event-store.js';
import { headerPlace, type Sealing, signingSecretPlace } from '../../src/secrets/sealing.js';
import { readConfig } from '../../src/settings/read-config.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream, type WebhookConfiguration } from '../../src/webhooks/events.js';
import type { Settings } from '../../test/support/clients/service.js';
import type { Tell } from './row.js';

export interface Population {
  /** Ids 1 and on. */
  readonly accounts: number;
  /** Of one account: as many webhooks of the type cash_in. */
  readonly urls: (accountId: number) => readonly string[];
  /** Of each account: so many times one of its webhooks was given other headers. */
  readonly updates?: number;
}

/** With the same secret each. */
const CLIENT_SECRET = 'the-client-secret-of-every-account';
const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const HEADER = { key: 'X-Api-Key', value: 'a-key-of-the-benchmark' };
const WAVE = 1_000;
const IDS_A_BLOCK = 100;
const REGISTRATION_EVENTS = 3;
const FROM = Date.UTC(2026, 0, 1);

interface Writing extends Population {
  readonly store: Backbone['store'];
  readonly sealing: Sealing;
}

export function credentialsOf(accountId: number): { clientId: string; clientSecret: string } {
  return { clientId: `acct_${accountId}_${accountId.toString(16).padStart(16, '0')}`, clientSecret: CLIENT_SECRET };
}

/** How many events of accounts there are after it. */
export function eventsOf({ accounts, urls, updates = 0 }: Population): number {
  return accounts * (REGISTRATION_EVENTS + urls(1).length + updates);
}

/** The installation's store has to be empty. */
export async function populate(settings: Settings, population: Population, tell: Tell): Promise<void> {
  const { store, sealing, close } = await openBackbone(readConfig(settings), createLogger('warn'));
  const writing = { ...population, store, sealing };
  let webhooks = 0;
  for (let first = 1; first <= population.accounts; first += WAVE) {
    webhooks += await writeWave(writing, first, webhooks);
    if (first % (10 * WAVE) === 1) tell(`accounts from ${first} on, of ${population.accounts}`);
  }
  await reserveIds(writing, webhooks);
  await close();
}

/** @returns how many webhooks it has added */
async function writeWave({ store, ...writing }: Writing, first: number, webhooksBefore: number): Promise<number> {
  const count = Math.min(WAVE, writing.accounts - first + 1);
  let added = 0;
  const histories = Array.from({ length: count }, (_, index) => {
    const history = historyOf(writing, first + index, webhooksBefore + added);
    added += writing.urls(first + index).length;
    return { stream: accountStream(first + index), history, revision: NO_STREAM };
  });
  for (let left = histories; left.length > 0; ) {
    const stepped = await Promise.all(
      left.map(async (one) => {
        const { value: events, done } = one.history.next();
        if (!done) one.revision = (await store.append(one.stream, events, one.revision)).revision;
        return done ? [] : [one];
      }),
    );
    left = stepped.flat();
  }
  return added;
}

/** An account's appends, in their order; made as they are asked for, since ten million do not fit into memory. */
function* historyOf(writing: Omit<Writing, 'store'>, accountId: number, firstId: number): Generator<NewEvent[], void> {
  const { sealing, updates = 0 } = writing;
  const headers = [{ key: HEADER.key, sealed: sealing.seal(HEADER.value, headerPlace(accountId, HEADER.key)) }];
  const webhooks = writing.urls(accountId).map((url, index): WebhookConfiguration => {
    const endpoint = new URL(url).href;
    return { webhookId: firstId + index + 1, eventType: 'cash_in', url, endpoint, headers, version: 1 };
  });
  const createdAt = new Date(FROM + accountId * 1_000).toISOString();
  const context = { actor: 'bench', requestId: randomUUID(), correlationId: randomUUID() };
  const append = (events: readonly AccountEvent[]) => enveloped(events, context, randomUUID);
  yield append(registration(sealing, accountId));
  for (const webhook of webhooks) yield append([{ type: 'WebhookAdded', data: { ...webhook, createdAt } }]);
  for (let index = 0; index < updates; index += 1) {
    const webhook = webhooks[index % webhooks.length];
    const version = 2 + Math.floor(index / webhooks.length);
    if (webhook) yield append([{ type: 'WebhookUpdated', data: { ...webhook, version, updatedAt: createdAt } }]);
  }
}

function registration(sealing: Sealing, accountId: number): AccountEvent[] {
  const at = new Date(FROM).toISOString();
  const { clientId, clientSecret } = credentialsOf(accountId);
  const secretHash = createHash('sha256').update(clientSecret).digest('hex');
  const sealed = sealing.seal(SIGNING_SECRET, signingSecretPlace(accountId));
  return [
    { type: 'AccountRegistered', data: { accountId, registeredAt: at } },
    { type: 'CredentialIssued', data: { clientId, secretHash, issuedAt: at } },
    { type: 'SigningSecretIssued', data: { sealed, issuedAt: at } },
  ];
}

/** So that the service gives no id a second time. */
async function reserveIds({ store }: Writing, webhooks: number): Promise<void> {
  const blocks = Math.ceil(webhooks / IDS_A_BLOCK);
  const events = Array.from({ length: blocks }, (_, block) => ({
    id: randomUUID(),
    type: 'WebhookIdsReserved',
    data: { firstId: block * IDS_A_BLOCK + 1, size: IDS_A_BLOCK },
    metadata: {},
  }));
  if (blocks > 0) await store.append('webhook-ids', events, NO_STREAM);
}

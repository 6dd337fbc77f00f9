/**
 * A credential is revoked while its account writes 50 times a second, on a history of 20,000 events: the
 * running service refuses its tokens within seconds, and no write is lost. Tested for the first and for the last issued
 * credential.
 */
import { randomUUID } from 'node:crypto';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { type Backbone, describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { reportCounts } from '../support/fault-counts.js';
import { FaultScene } from '../support/fault-scene.js';
import { commandLine } from '../support/in-process-cli.js';
import { run, type Service, type Settings } from '../support/service.js';
import { type Account, addWebhook, register, tokenFor } from '../support/story.js';
import { inFull } from '../support/thorough.js';
import { CONTEXT } from '../support/webhook-samples.js';

const ACCOUNT = 7;
/** In full on SQLite; the EventStoreDB of the tests takes a minute to write as many. */
const EVENTS = { full: inFull(20_000, 1_000), server: 2_000 };
/** EventStoreDB accepts 1 MiB per append. */
const EVENTS_AN_APPEND = 100;
const WRITE_EVERY_MS = 20;
const HEADERS = 5;
const HEADER_CHARACTERS = 4_096;
const SEALED_CHARACTERS = 5_480;
const PATIENCE = { timeout: 60_000, message: 'the token is still good' };

let scene: FaultScene;
afterEach(() => scene.close());

describeBackbones((backbone) => {
  test('a credential is revoked while its account writes all the time, on a long history', async () => {
    // Its budget for history would end the writing before the test does.
    scene = await FaultScene.open(backbone, { settings: { HISTORY_BUDGET: '0' } });
    const events = eventsOf(backbone);
    const first = await register(scene.settings, ACCOUNT);
    await writeHistory(events);
    const [last, writers] = [await issue(scene.settings), await issue(scene.settings)];
    const service = await scene.serve();
    const tokens = { first: await tokenFor(service.url, first), last: await tokenFor(service.url, last) };
    const writing = keepWriting(service, await tokenFor(service.url, writers));
    await eventually(() => writing.taken() > 10, PATIENCE);

    const firstMs = await revoked(service, first, tokens.first);
    const lastMs = await revoked(service, last, tokens.last);
    const taken = await writing.end();

    const kept = await written(events);
    report(backbone, { firstMs, lastMs, taken, kept });
    expect(kept).toBe(taken);
    const refused = await commandLine(scene.settings, ['token', '--url', service.url, ...credentials(first)]);
    expect(refused.code).toBe(1);
  });
});

function eventsOf({ name }: Backbone): number {
  return name.startsWith('SQLite') ? EVENTS.full : EVENTS.server;
}

/** As if the account had changed its webhook's headers this many times. */
function writeHistory(events: number): Promise<void> {
  return scene.withBroker(async ({ store }) => {
    for (let from = 0; from < events; from += EVENTS_AN_APPEND) {
      const count = Math.min(EVENTS_AN_APPEND, events - from);
      const some = Array.from({ length: count }, (_, n) => updated(from + n));
      await store.append(accountStream(ACCOUNT), enveloped(some, CONTEXT, randomUUID), from + 2);
    }
  });
}

/** An update of a webhook that does not exist, with one long header: folds ignore it. */
function updated(version: number) {
  const url = 'https://localhost/history';
  const headers = [{ key: 'X-0', sealed: 's'.repeat(SEALED_CHARACTERS) }];
  const data = { webhookId: 1_000_000, eventType: 'cash_in', url, endpoint: url, headers, version } as const;
  return { type: 'WebhookUpdated', data: { ...data, updatedAt: '2026-11-21T09:00:00.000Z' } } as const;
}

async function issue(settings: Settings): Promise<Account> {
  const { stdout } = await commandLine(settings, ['accounts', 'issue-credential', String(ACCOUNT), '--json']);
  return JSON.parse(stdout) as Account;
}

function credentials({ clientId, clientSecret }: Account): string[] {
  return ['--client-id', clientId, '--client-secret', clientSecret];
}

/** Sends at this rate, whatever the result of the previous request; each request gives the webhook other headers. */
function keepWriting({ url }: Service, token: string) {
  let taken = 0;
  const sent: Promise<void>[] = [];
  const write = async (n: number) => {
    const value = String(n).padEnd(HEADER_CHARACTERS, 'v');
    const headers = Array.from({ length: HEADERS }, (_, index) => ({ key: `X-${index}`, value }));
    const status = await addWebhook(url, token, { url: 'https://localhost/busy', eventType: 'cash_out', headers });
    expect(status).toBe(200);
    taken += 1;
  };
  const timer = setInterval(() => sent.push(write(sent.length)), WRITE_EVERY_MS);
  scene.onClose(() => clearInterval(timer));
  return {
    taken: () => taken,
    async end(): Promise<number> {
      clearInterval(timer);
      await Promise.all(sent);
      return taken;
    },
  };
}

/** Time from the command's start until the service refuses the token, ms. */
async function revoked({ url }: Service, { clientId }: Account, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const statusNow = async () => {
    const response = await fetch(`${url}/api/webhooks`, { headers });
    await response.arrayBuffer();
    return response.status;
  };
  expect(await statusNow()).toBe(200);
  const begun = performance.now();
  const command = run(scene.settings, ['accounts', 'revoke-credential', clientId]);
  await eventually(async () => (await statusNow()) === 401, PATIENCE);
  const ms = performance.now() - begun;
  expect(await command).toMatchObject({ code: 0 });
  return ms;
}

/** The number of events of the account's own webhook. */
function written(events: number): Promise<number> {
  return scene.withBroker(async ({ store }) => {
    let count = 0;
    for await (const { type, data } of store.read(accountStream(ACCOUNT), events)) {
      const isOwn =
        (type === 'WebhookAdded' || type === 'WebhookUpdated') && (data as { url: string }).url.endsWith('/busy');
      if (isOwn) count += 1;
    }
    return count;
  });
}

function report(backbone: Backbone, seen: { firstMs: number; lastMs: number; taken: number; kept: number }): void {
  const { firstMs, lastMs, taken, kept } = seen;
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const history = `${eventsOf(backbone).toLocaleString('en-US')} events, 50 writes a second`;
  const what = `${backbone.name}, a credential revoked on ${history}: refused after ${seconds(firstMs)} s, one issued last after ${seconds(lastMs)} s`;
  reportCounts({ what, pairs: taken, lost: taken - kept, sentTwice: null });
}

import { afterEach, expect, test } from '@jest/globals';
import { describeBackbones, ON_SERVERS } from '../support/backbones.js';
import { distinct } from '../support/distinct-requests.js';
import { eventually } from '../support/eventually.js';
import { Oracle } from '../support/oracle.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { scrape } from '../support/scrape.js';
import { elsewhere, type Service, type Settings, serve } from '../support/service.js';
import {
  type Account,
  addWebhook,
  installation,
  paymentEvents,
  publishEvents,
  register,
  tokenFor,
} from '../support/story.js';
import { inFull, testInFull } from '../support/thorough.js';

const ACCOUNTS = [1, 2, 3, 4, 5];
const EVENTS = inFull(80, 30);
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };

describeBackbones((backbone) => {
  let cleanups: (() => unknown)[] = [];
  let receiver: Receiver;
  let settings: Settings;

  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    cleanups = [];
  });

  async function install(): Promise<void> {
    receiver = await startReceiver();
    const installed = await installation([receiver], backbone);
    settings = installed.settings;
    cleanups.push(installed.remove, () => receiver.close());
  }

  async function process(role: 'api' | 'dispatcher'): Promise<Service> {
    const service = await serve(elsewhere(settings), ['--roles', role]);
    cleanups.push(() => service.stop('SIGKILL'));
    return service;
  }

  const accountsWithTokens = async (api: Service) => {
    const accounts: (Account & { token: string })[] = [];
    for (const id of ACCOUNTS) {
      const account = await register(settings, id);
      accounts.push({ ...account, token: await tokenFor(api.url, account) });
    }
    return accounts;
  };

  test('the limit of 3 holds across two API processes', async () => {
    await install();
    const apis = [await process('api'), await process('api')];
    const token = await tokenFor(String(apis[0]?.url), await register(settings, 1));
    const posts = Array.from({ length: 12 }, (_, n) => ({ url: `${receiver.url}/${n}`, eventType: 'cash_in' }));
    const answers = await Promise.all(posts.map((webhook, n) => addWebhook(String(apis[n % 2]?.url), token, webhook)));
    expect(answers.sort()).toEqual([200, 200, 200, ...Array.from({ length: 9 }, () => 400)]);
    for (const { url } of apis) {
      // The other process's read model may lag for a moment.
      await eventually(async () => {
        const list = await fetch(`${url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
        return ((await list.json()) as { total: number }).total === 3;
      });
    }
  });

  test('two of each role, one of each killed under load and another started: nothing is lost', async () => {
    await install();
    const [api, otherApi] = [await process('api'), await process('api')];
    const dispatcher = await process('dispatcher');
    await process('dispatcher');
    const accounts = await accountsWithTokens(api);
    for (const { token } of accounts) {
      await addWebhook(api.url, token, { url: `${receiver.url}/first`, eventType: 'cash_in' });
    }
    // The dispatchers fold this long before the command line has published: the command takes 0.3 s to start.
    for (const { token } of accounts) {
      await addWebhook(otherApi.url, token, { url: `${receiver.url}/second`, eventType: 'cash_in' });
    }
    const oracle = new Oracle([receiver]);
    const urls = [`${receiver.url}/first`, `${receiver.url}/second`];
    const burst = (name: string) => {
      const events = ACCOUNTS.map((id) => paymentEvents(id, EVENTS, `${name}-${id}-`)).join('');
      oracle.due(events, urls);
      return publishEvents(settings, events);
    };
    await burst('before');
    await eventually(() => receiver.requests.length > 100, PATIENCE);
    await Promise.all([dispatcher.stop('SIGKILL'), api.stop('SIGKILL')]);
    await process('dispatcher');
    await burst('after');
    await oracle.nothingLost(PATIENCE_MS);
    const verdict = oracle.report(`${backbone.name}, one of each role killed`);
    expect(verdict).toMatchObject({ pairs: 4 * EVENTS * ACCOUNTS.length, lost: 0, differing: 0, unexpected: 0 });
    const list = await fetch(`${otherApi.url}/api/webhooks`, {
      headers: { authorization: `Bearer ${accounts[0]?.token}` },
    });
    expect(await list.json()).toMatchObject({ total: 2 });
  });

  testInFull('first attempts of one account start in the order in which its events were published', async () => {
    await install();
    // One connection to the endpoint: attempts that start in order arrive in order.
    settings = { ...settings, ENDPOINT_CONCURRENCY: '1' };
    const api = await process('api');
    const dispatchers = await Promise.all([process('dispatcher'), process('dispatcher')]);
    const token = await tokenFor(api.url, await register(settings, 1));
    await addWebhook(api.url, token, { url: `${receiver.url}/x`, eventType: 'cash_in' });
    await publishEvents(settings, paymentEvents(1, 100));
    await eventually(() => distinct(receiver.requests) === 100, PATIENCE);
    const order = receiver.requests.map(({ body }) => Number(JSON.parse(String(body)).id.slice('evt-'.length)));
    const parked = (await Promise.all(dispatchers.map(parkedBy))).reduce((one, other) => one + other);
    expect(order.filter(isLate).length).toBeLessThanOrEqual(parked);
  });
}, ON_SERVERS);

/** Where an attempt takes a second, as on a busy machine, deliveries are parked: they come back after later ones. */
async function parkedBy({ adminUrl }: Service): Promise<number> {
  return (await scrape(adminUrl)).value('account_webhooks_parked_total') ?? 0;
}

function isLate(one: number, index: number, all: readonly number[]): boolean {
  return all.slice(0, index).some((earlier) => earlier > one);
}

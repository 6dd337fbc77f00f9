import { inFull, testInFull } from '../runner/thorough.js';
import { scrape } from '../support/clients/scrape.js';
import { elsewhere, type Service, type Settings } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { distinct } from '../support/oracles/distinct-requests.js';
import { describeBackbones, ON_SERVERS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import {
  type Account,
  addWebhook,
  listWebhooks,
  paymentEvents,
  publishEvents,
  register,
  tokenFor,
} from '../support/scenes/story.js';

const ACCOUNTS = [1, 2, 3, 4, 5];
const EVENTS = inFull(80, 30);
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };

describeBackbones((backbone) => {
  let scene: FaultScene;
  beforeEach(async () => {
    scene = await FaultScene.open(backbone);
  });
  afterEach(() => scene.close());

  const process = (role: 'api' | 'dispatcher', more: Settings = {}) =>
    scene.serve({ ...elsewhere(scene.settings), ...more }, ['--roles', role]);

  const accountsWithTokens = async (api: Service) => {
    const accounts: (Account & { token: string })[] = [];
    for (const id of ACCOUNTS) {
      const account = await register(scene.settings, id);
      accounts.push({ ...account, token: await tokenFor(api.url, account) });
    }
    return accounts;
  };

  test('two of each role, one of each killed under load and another started: nothing is lost', async () => {
    const [api, otherApi] = [await process('api'), await process('api')];
    const dispatcher = await process('dispatcher');
    await process('dispatcher');
    const accounts = await accountsWithTokens(api);
    for (const { token } of accounts) {
      await addWebhook(api.url, token, { url: `${scene.receiver.url}/first`, eventType: 'cash_in' });
    }
    // The dispatchers fold this long before the command line has published: the command takes 0.3 s to start.
    for (const { token } of accounts) {
      await addWebhook(otherApi.url, token, { url: `${scene.receiver.url}/second`, eventType: 'cash_in' });
    }
    const { oracle } = scene;
    const urls = scene.urls('/first', '/second');
    const burst = (name: string) => {
      const events = ACCOUNTS.map((id) => paymentEvents(id, EVENTS, `${name}-${id}-`)).join('');
      oracle.due(events, urls);
      return publishEvents(scene.settings, events);
    };
    await burst('before');
    await eventually(() => scene.receiver.requests.length > 100, PATIENCE);
    await Promise.all([dispatcher.stop('SIGKILL'), api.stop('SIGKILL')]);
    await process('dispatcher');
    await burst('after');
    await oracle.nothingLost(PATIENCE_MS);
    const verdict = oracle.report(`${backbone.name}, one of each role killed`);
    expect(verdict).toMatchObject({ pairs: 4 * EVENTS * ACCOUNTS.length, lost: 0, differing: 0, unexpected: 0 });
    expect((await listWebhooks(otherApi, String(accounts[0]?.token))).webhooks).toHaveLength(2);
  });

  testInFull('first attempts of one account start in the order in which its events were published', async () => {
    // One connection to the endpoint: attempts that start in order arrive in order.
    const one = { ENDPOINT_CONCURRENCY: '1' };
    const api = await process('api');
    const dispatchers = await Promise.all([process('dispatcher', one), process('dispatcher', one)]);
    const token = await tokenFor(api.url, await register(scene.settings, 1));
    await addWebhook(api.url, token, { url: `${scene.receiver.url}/x`, eventType: 'cash_in' });
    await publishEvents(scene.settings, paymentEvents(1, 100));
    await eventually(() => distinct(scene.receiver.requests) === 100, PATIENCE);
    const all = scene.receiver.requests.map(({ body }) => Number(JSON.parse(String(body)).id.slice('evt-'.length)));
    // If a starved dispatcher loses the partition, the other one resends the payments that were not committed.
    const order = [...new Set(all)];
    const deferred = (await Promise.all(dispatchers.map(deferredBy))).reduce((one, other) => one + other);
    expect(order.filter(isLate).length).toBeLessThanOrEqual(deferred);
  });
}, ON_SERVERS);

/** Where an attempt takes a second, as on a busy machine, deliveries are deferred: they come back after later ones. */
async function deferredBy({ adminUrl }: Service): Promise<number> {
  return (await scrape(adminUrl)).value('account_webhooks_deferred_total') ?? 0;
}

function isLate(one: number, index: number, all: readonly number[]): boolean {
  return all.slice(0, index).some((earlier) => earlier > one);
}

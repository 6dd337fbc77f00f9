/**
 * A dispatcher whose read model is behind the event store: a payment published after a registration's response reaches
 * that URL, however far and however long the dispatcher is behind.
 */
import { randomBytes } from 'node:crypto';
import { patience } from '../runner/patience.js';
import { startEventStore } from '../services/eventstoredb/event-store-server.js';
import { needsTestServer } from '../services/eventstoredb/own-server.js';
import { elsewhere, readiness, type Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { distinct } from '../support/oracles/distinct-requests.js';
import { describeBackbones, ON_SERVERS } from '../support/scenes/backbones.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { addWebhook, paymentEvents, register, tokenFor } from '../support/scenes/story.js';
import { type Relay, startRelay } from '../support/servers/relay.js';

const ACCOUNTS = [1, 2, 3, 4, 5, 6];
const PATHS = ['/one', '/two', '/three'];
const PATIENCE_MS = 40_000;
const PATIENCE = { timeout: PATIENCE_MS };
const API = ['--roles', 'api'];
const DISPATCHER = ['--roles', 'dispatcher'];

let scene: FaultScene;
afterEach(() => scene.close());

async function addCashIn(api: Service, token: string, url: string): Promise<void> {
  const status = await addWebhook(api.url, token, { url, eventType: 'cash_in' });
  if (status !== 200) throw new Error(`${url} was not taken: ${status}`);
}

describeBackbones((backbone) => {
  test('a payment that is published in the tick of the 200 reaches the new URL, the roles being in two processes', async () => {
    scene = await FaultScene.open(backbone);
    const urls = scene.urls(...PATHS);
    const api = await scene.serve({}, API);
    await scene.serve(elsewhere(scene.settings), DISPATCHER);
    await scene.withBroker(async ({ broker }, topics) => {
      const published: Promise<unknown>[] = [];
      for (const account of ACCOUNTS) {
        const token = await tokenFor(api.url, await register(scene.settings, account));
        for (const [n, url] of urls.entries()) {
          const event = paymentEvents(account, 1, `${account}-${n}-`);
          const record = { key: Buffer.from(String(account)), value: Buffer.from(event.trim()), headers: [] };
          await addCashIn(api, token, url);
          published.push(broker.publish(topics.payments[0], [record]));
          scene.oracle.due(event, urls.slice(0, n + 1));
          // The URLs registered before the confirmation.
          scene.oracle.maybe(event, urls);
        }
      }
      await Promise.all(published);
    });
    await scene.nothingLost(PATIENCE_MS);
    const { lost, pairs, unexpected } = scene.oracle.report(`${backbone.name}, a payment in the tick of each 200`);
    expect({ lost, pairs, unexpected }).toEqual({ lost: 0, pairs: ACCOUNTS.length * 6, unexpected: 0 });
  });

  const ways: [string, (relay: Relay) => void][] = [
    ['cut off', (relay) => relay.cut()],
    ['frozen', (relay) => relay.freeze()],
  ];
  test.each(ways)(
    'a dispatcher whose connection to the event store is %s sends what it knows, and the rest after',
    async (...of) => {
      const [how, fail] = of;
      scene = await FaultScene.open(backbone);
      const direct = new URL(String(scene.settings.EVENT_STORE_URL));
      const relay = await startRelay();
      scene.onClose(() => relay.close());
      relay.leadTo(Number(direct.port));
      const api = await scene.serve({}, API);
      const behind = { EVENT_STORE_URL: direct.href.replace(direct.port, String(relay.port)) };
      const dispatcher = await scene.serve(elsewhere({ ...scene.settings, ...behind }), DISPATCHER);
      const [known, added] = scene.urls('/known', '/added') as [string, string];
      const token = await scene.account(api, 1, [known]);
      // The dispatcher knows the URL from here on.
      await scene.publish(paymentEvents(1, 1, 'before-'), [known]);
      await scene.nothingLost(PATIENCE_MS);
      fail(relay);
      await addCashIn(api, token, added);
      await scene.publish(paymentEvents(1, 30, 'early-'), [known, added]);
      await eventually(async () => (await readiness(dispatcher)).httpStatus === 503, PATIENCE);
      await scene.publish(paymentEvents(1, 30, 'late-'), [known, added]);
      await eventually(() => distinct(scene.receiver.taken.filter(({ path }) => path === '/known')) === 61, PATIENCE);
      expect(scene.receiver.taken.filter(({ path }) => path === '/added')).toEqual([]);
      relay.mend();
      await scene.nothingLost(PATIENCE_MS);
      const { lost, sentTwice } = scene.oracle.report(`a dispatcher's connection to the event store is ${how}`);
      expect({ lost, sentTwice }).toEqual({ lost: 0, sentTwice: 0 });
      expect(await dispatcher.stop('SIGTERM')).toBe(0);
    },
  );
}, ON_SERVERS);

needsTestServer(() => {
  test('SIGTERM while the event store is frozen ends in time, and nothing is sent again', async () => {
    const server = await startEventStore();
    const relay = await startRelay(server.port);
    const EVENT_STORE_URL = server.url.replace(`${server.port}`, `${relay.port}`);
    const settings = { EVENT_STORE_URL, MASTER_KEY: randomBytes(32).toString('base64') };
    scene = await FaultScene.open(undefined, { settings });
    scene.onClose(() => server.stop());
    scene.onClose(() => relay.close());
    const service = await scene.serve();
    const urls = scene.urls('/one');
    await scene.account(service, 1, urls);
    relay.freeze();
    await scene.publish(paymentEvents(1, 20), urls);
    await scene.nothingLost(PATIENCE_MS);
    const began = performance.now();
    expect(await service.stop('SIGTERM')).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000 * patience());
    relay.mend();
    await scene.serve();
    // The payments are open until their routing is confirmed; a later one is behind them.
    await scene.publish(paymentEvents(1, 1, 'late-'), urls);
    await scene.nothingLost(PATIENCE_MS);
    const done = () =>
      scene.withBroker(({ broker }, { payments: [topic] }) => broker.committed('account-webhooks', topic));
    await eventually(async () => (await done()).get(0) === 21, PATIENCE);
    const { lost, sentTwice } = scene.oracle.report('SIGTERM while the event store is frozen');
    expect({ lost, sentTwice }).toEqual({ lost: 0, sentTwice: 0 });
  });
});

/** Behaviour of real processes whose EventStoreDB stops answering, answers only others, or refuses them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Users } from '../services/eventstoredb/access.js';
import { startEventStoreCluster } from '../services/eventstoredb/cluster.js';
import { type EventStoreOptions, startEventStore } from '../services/eventstoredb/event-store-server.js';
import { needsTestServer } from '../services/eventstoredb/own-server.js';
import { elsewhere, readiness, type Service } from '../support/clients/service.js';
import { eventually } from '../support/clocks/eventually.js';
import { undoneAfterEach } from '../support/scenes/at-end.js';
import { FaultScene } from '../support/scenes/fault-scene.js';
import { addWebhook, listWebhooks, register, tokenFor } from '../support/scenes/story.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { certificateFor, testAuthority } from '../support/servers/certificates.js';
import { startRelay } from '../support/servers/relay.js';

const ACCOUNT = 7;
const OUT_OF_REACH = 'the event store is unavailable; retrying';
const BACK = 'the event store answers again';
const PATIENCE = { timeout: 60_000 };

const atEnd = undoneAfterEach();

/** A service on the store at `url`, with an account that has a webhook. */
async function running(url: string) {
  const scene = await FaultScene.onStore({ url, stop: async () => undefined });
  atEnd(() => scene.close());
  const service = await scene.serve();
  const token = await scene.account(service, ACCOUNT, [webhook('/one').url]);
  return { scene, settings: scene.settings, service, token };
}

const webhook = (path: string) => ({ url: `https://localhost${path}`, eventType: 'cash_in' });
const ready = async (service: Service) => (await readiness(service)).httpStatus;
const said = ({ log }: Service, text: string) => log().split(text).length - 1;

async function post({ url }: Service, token: string, path: string, more = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more };
  const init = { method: 'POST', headers, body: JSON.stringify(webhook(path)) };
  const response = await fetch(`${url}/api/webhooks`, init);
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

/** The URLs in this process's GET, to see another process's change. */
const urls = async (service: Service, token: string) =>
  (await listWebhooks(service, token)).webhooks.map(({ url }) => new URL(url).pathname);

needsTestServer(() => {
  test('a server that is frozen: not ready, 503 with Retry-After, told once; ready again when it thaws', async () => {
    const server = await startEventStore();
    atEnd(() => server.stop());
    const relay = await startRelay(server.port);
    atEnd(() => relay.close());
    const { service, token } = await running(server.url.replace(`${server.port}`, `${relay.port}`));
    relay.freeze();
    const posted = post(service, token, '/two');
    await eventually(async () => (await ready(service)) === 503, PATIENCE);
    expect(await posted).toEqual({ status: 503, retryAfter: '5' });
    expect(await urls(service, token)).toEqual(['/one']);
    relay.mend();
    await eventually(async () => (await ready(service)) === 200, PATIENCE);
    // Its log arrives by a pipe.
    await eventually(() => said(service, BACK) > 0, PATIENCE);
    expect([said(service, OUT_OF_REACH), said(service, BACK)]).toEqual([1, 1]);
    expect(service.log()).not.toContain('a request failed');
    expect((await post(service, token, '/two')).status).toBe(200);
    // The POST answered with 503 may be stored by now; then it is the same webhook.
    expect(await urls(service, token)).toEqual(['/one', '/two']);
  });

  test('a keyed POST that meets a restart of the server is done, once', async () => {
    const server = await startEventStore();
    const { service, token } = await running(server.url);
    await server.kill();
    const asked = Array.from({ length: 4 }, () => post(service, token, '/two', { 'idempotency-key': 'k' }));
    await eventually(() => said(service, OUT_OF_REACH) === 1, PATIENCE);
    const revived = await startEventStore({ port: server.port, data: server.data });
    atEnd(() => revived.stop());
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const caused = revived.data.stream(`account-${ACCOUNT}`).filter(({ type }) => /^Webhook/.test(type));
    expect(caused).toHaveLength(2);
  });

  test('a cluster without a majority: not ready while it lasts, though its members answer', async () => {
    const cluster = await startEventStoreCluster(3);
    atEnd(() => cluster.stop());
    const { service, token } = await running(cluster.url);
    const { leader } = cluster;
    cluster.elect(null);
    await eventually(async () => (await ready(service)) === 503, PATIENCE);
    expect(await post(service, token, '/two')).toEqual({ status: 503, retryAfter: '5' });
    cluster.elect(leader);
    await eventually(async () => (await ready(service)) === 200, PATIENCE);
    expect((await post(service, token, '/two')).status).toBe(200);
    // Its log arrives by a pipe.
    await eventually(() => said(service, BACK) > 0, PATIENCE);
    expect([said(service, OUT_OF_REACH), said(service, BACK)]).toEqual([1, 1]);
  });

  test('a node that is cut off from its cluster keeps no process: it goes to the leader, and misses nothing', async () => {
    const cluster = await startEventStoreCluster(3);
    atEnd(() => cluster.stop());
    const { scene, service, token, settings } = await running(cluster.url);
    const [left, leader] = cluster.members;
    if (!left || !leader) throw new Error('a cluster has members');
    // The process is connected to the first node, which no longer leads and reaches nobody.
    cluster.elect(leader);
    cluster.cutOff(left);
    const EVENT_STORE_URL = leader.url;
    const beside = await scene.serve({ ...elsewhere(settings), EVENT_STORE_URL });
    expect(await addWebhook(beside.url, token, webhook('/elsewhere'))).toBe(200);
    await eventually(async () => (await urls(service, token)).includes('/elsewhere'), PATIENCE);
    expect((await post(service, token, '/here')).status).toBe(200);
    const other = await tokenFor(service.url, await register({ ...settings, EVENT_STORE_URL }, ACCOUNT + 1));
    expect(await urls(service, other)).toEqual([]);
    await eventually(async () => (await ready(service)) === 200, PATIENCE);
  });

  const secured = async (users: Users, more: Partial<EventStoreOptions> = {}) => {
    const folder = temporaryDirectory();
    atEnd(() => folder.remove());
    const ca = join(folder.path, 'ca.pem');
    writeFileSync(ca, (await testAuthority()).cert);
    const server = await startEventStore({ tls: await certificateFor(), users, ...more });
    atEnd(() => server.stop());
    return { server, url: (who: string) => `esdb://${who}@localhost:${server.port}?tls=true&tlsCAFile=${ca}` };
  };

  test('a password that is changed later ends the process with code 1', async () => {
    const users = new Users({ username: 'webhooks', password: 'secret', groups: ['$admins'] });
    const { url } = await secured(users);
    const { service } = await running(url('webhooks:secret'));
    users.setPassword('webhooks', 'another');
    expect(await service.exited).toBe(1);
    expect(service.log()).toContain('EventStoreDB refused the credentials of EVENT_STORE_URL');
  });
});

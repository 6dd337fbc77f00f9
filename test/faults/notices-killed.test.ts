/** Accounts are told that their webhooks are off, whichever process is killed meanwhile. */
import type { Notice } from '../../src/delivery/notices/notice.js';
import { EVENT_TYPES } from '../../src/webhooks/limits.js';
import { describeBackbones, ON_SERVERS } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { FaultScene } from '../support/fault-scene.js';
import { elsewhere } from '../support/service.js';
import { addWebhook, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';

const ACCOUNTS = [1, 2, 3, 4];
const WEBHOOKS = ACCOUNTS.length * EVENT_TYPES.length;
const PATIENCE = { timeout: 60_000 };
const NOTICES = '/notices';

describeBackbones((backbone) => {
  let scene: FaultScene;
  afterEach(() => scene.close());

  const process = () => scene.serve(elsewhere(scene.settings));

  const told = () =>
    scene.receiver.requests
      .filter(({ path }) => path === NOTICES)
      .map(({ body }) => JSON.parse(body.toString()) as Notice)
      .map(({ accountId, type, data }) => `${accountId} ${data.eventType} ${type}`);

  test('each process is killed while notices are written and sent: each is sent, by the one that is left', async () => {
    scene = await FaultScene.open(backbone, { respond: ({ path }) => ({ status: path === NOTICES ? 200 : 410 }) });
    const { receiver, settings } = scene;
    const first = await process();
    const second = await process();
    const due = new Set<string>();
    for (const account of ACCOUNTS) {
      const token = await tokenFor(first.url, await register(settings, account));
      await call(first.url, token, { url: receiver.url + NOTICES });
      for (const eventType of EVENT_TYPES) {
        await addWebhook(first.url, token, { url: `${receiver.url}/${eventType}`, eventType });
        due.add(`${account} ${eventType} webhook_deactivated`);
      }
    }
    const events = (prefix: string) =>
      EVENT_TYPES.flatMap((type) =>
        ACCOUNTS.map((account) => paymentEvents(account, 1, `${prefix}-${type}-`).replace('cash_in', type)),
      ).join('');
    await publishEvents(settings, events('one'));
    await eventually(() => told().length > 2, PATIENCE);
    await first.stop('SIGKILL');
    const third = await process();
    await eventually(() => told().length > WEBHOOKS / 2, PATIENCE);
    await second.stop('SIGKILL');
    await eventually(() => [...due].every((one) => told().includes(one)), PATIENCE);
    // Off is off: later payments are held, and no notice is written for them.
    await publishEvents(settings, events('two'));
    await third.stop('SIGTERM');
    expect(new Set(told())).toEqual(due);
  });
}, ON_SERVERS);

async function call(url: string, token: string, json: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/notices`, { method: 'PUT', headers, body: JSON.stringify(json) });
  expect(response.status).toBe(200);
  await response.arrayBuffer();
}

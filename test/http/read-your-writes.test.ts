/** What was stored a moment ago, here or by another process, is known before the read model has folded it. */
import { randomUUID } from 'node:crypto';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { eventually } from '../support/clocks/eventually.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { HeldReadModel } from '../support/scenes/held-read-model.js';

let api: BareApi;
let held: HeldReadModel;

beforeEach(async () => {
  held = new HeldReadModel();
  const view = viewOf({ page: () => ({ deliveries: [], next: null, completeSince: null }) });
  api = await startBareApi({ readModelOver: held.over, parts: { view } });
});

afterEach(async () => {
  held.letGo();
  await api.close();
});

it('the GET after a POST shows it', async () => {
  await api.client().post({ url: 'https://shop.com/', eventType: 'cash_in' });
  expect((await api.client().list()).total).toBe(1);
  held.letGo();
  await eventually(() => api.readModel.host.progress.events === 2);
  expect((await api.client().list()).total).toBe(1);
});

it('a webhook that is not known here is looked for in the store before it is 404', async () => {
  const status = async (id: number) => (await api.client().send('GET', `/api/webhooks/${id}/deliveries`)).status;
  expect(await status(5)).toBe(404);
  const append = (event: Parameters<typeof enveloped>[0][number], revision: number) =>
    held.store.append(accountStream(42), enveloped([event], CONTEXT, randomUUID), revision);
  await append(added(5), 0);
  expect([await status(5), await status(6)]).toEqual([200, 404]);
  await append({ type: 'WebhookRemoved', data: { webhookId: 5 } } as Parameters<typeof append>[0], 1);
  held.letGo();
  await eventually(async () => (await status(5)) === 404);
});

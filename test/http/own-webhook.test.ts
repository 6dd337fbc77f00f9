import { randomUUID } from 'node:crypto';
import { enveloped } from '../../src/webhooks/envelope.js';
import { accountStream } from '../../src/webhooks/events.js';
import { eventually } from '../support/eventually.js';
import { added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { HeldReadModel } from '../support/scenes/held-read-model.js';

let api: BareApi;
let held: HeldReadModel;

/** Another process has registered webhooks a moment ago. */
beforeEach(async () => {
  held = new HeldReadModel();
  const view = viewOf({ page: () => ({ deliveries: [], next: null, completeSince: null }) });
  api = await startBareApi({ readModelOver: held.over, parts: { view } });
});

afterEach(async () => {
  held.letGo();
  await api.close();
});

async function status(id: number): Promise<number> {
  const headers = { authorization: 'Bearer caller-42' };
  const response = await fetch(`${api.url}/api/webhooks/${id}/deliveries`, { headers });
  await response.arrayBuffer();
  return response.status;
}

it('a webhook that is not known here is looked for in the store before it is 404', async () => {
  expect(await status(5)).toBe(404);
  const append = (event: Parameters<typeof enveloped>[0][number], revision: number) =>
    held.store.append(accountStream(42), enveloped([event], CONTEXT, randomUUID), revision);
  await append(added(5), 0);
  expect([await status(5), await status(6)]).toEqual([200, 404]);
  await append({ type: 'WebhookRemoved', data: { webhookId: 5 } } as Parameters<typeof append>[0], 1);
  held.letGo();
  await eventually(async () => (await status(5)) === 404);
});

import { eventually } from '../support/eventually.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { HeldReadModel } from '../support/scenes/held-read-model.js';

let api: BareApi;
let held: HeldReadModel;

beforeEach(async () => {
  held = new HeldReadModel();
  api = await startBareApi({ readModelOver: held.over });
});

afterEach(async () => {
  held.letGo();
  await api.close();
});

const isFolded = () => api.readModel.host.progress.events === 2;

const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };

async function total(): Promise<number> {
  const response = await fetch(`${api.url}/api/webhooks`, { headers });
  return ((await response.json()) as { total: number }).total;
}

it('the GET after a POST shows it, though the read model has not folded it yet', async () => {
  const body = JSON.stringify({ url: 'https://shop.com/', eventType: 'cash_in' });
  expect((await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body })).status).toBe(200);
  expect(await total()).toBe(1);
  held.letGo();
  await eventually(() => isFolded());
  expect(await total()).toBe(1);
});

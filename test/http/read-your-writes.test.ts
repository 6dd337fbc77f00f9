import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { accountStream } from '../../src/webhooks/events.js';
import { type BareApi, startBareApi } from '../support/bare-api.js';
import { eventually } from '../support/eventually.js';
import { HeldReadModel } from '../support/held-read-model.js';

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

async function isStored(): Promise<boolean> {
  for await (const { type } of held.store.read(accountStream(42))) if (type === 'WebhookAdded') return true;
  return false;
}

const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };

async function total(): Promise<number> {
  const response = await fetch(`${api.url}/api/webhooks`, { headers });
  return ((await response.json()) as { total: number }).total;
}

it('a POST answers only once the next GET shows it', async () => {
  let answered = false;
  const body = JSON.stringify({ url: 'https://shop.com/', eventType: 'cash_in' });
  const answer = fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body }).then((response) => {
    answered = true;
    return response.status;
  });
  await eventually(isStored);
  for (let round = 0; round < 5; round += 1)
    expect({ total: await total(), answered }).toEqual({ total: 0, answered: false });
  held.letGo();
  expect(await answer).toBe(200);
  expect(await total()).toBe(1);
});

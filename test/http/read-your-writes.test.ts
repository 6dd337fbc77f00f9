import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { EventStore, SubscribeOptions } from '../../src/ports/event-store.js';
import { accountStream } from '../../src/webhooks/events.js';
import { type BareApi, startBareApi } from '../support/bare-api.js';
import { eventually } from '../support/eventually.js';

let api: BareApi;
let store: EventStore;
let letGo: () => void;

/** The read model gets to know of webhooks when the test lets it. */
beforeEach(async () => {
  const mayGo = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const readModelOver = (real: EventStore): EventStore => {
    store = real;
    return { ...real, read: (...args) => real.read(...args), subscribe: (options) => held(real, options, mayGo) };
  };
  api = await startBareApi({ readModelOver });
});

afterEach(async () => {
  letGo();
  await api.close();
});

async function* held(real: EventStore, options: SubscribeOptions, mayGo: Promise<void>) {
  for await (const batch of real.subscribe(options)) {
    if (batch.events.some(({ type }) => type === 'WebhookAdded')) await mayGo;
    yield batch;
  }
}

async function isStored(): Promise<boolean> {
  for await (const { type } of store.read(accountStream(42))) if (type === 'WebhookAdded') return true;
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
  letGo();
  expect(await answer).toBe(200);
  expect(await total()).toBe(1);
});

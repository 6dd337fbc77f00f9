import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
const COUNT = 25;
const PAGE = 10;
const PATIENCE = { timeout: 30_000 };

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly outcome: string;
  readonly attempts: readonly { readonly status: number | null; readonly version: number }[];
  readonly nextAttemptAt: string | null;
}

interface Page {
  readonly deliveries: readonly Delivery[];
  readonly next: string | null;
}

describeBackbones((backbone) => {
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let service: ServiceHere;
  let token: string;
  let isUp = false;

  beforeAll(async () => {
    receiver = await startReceiver({ respond: () => ({ status: isUp ? 200 : 500 }) });
    const installed = await installation([receiver], backbone);
    ({ remove } = installed);
    settings = { ...installed.settings, RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s,1s' };
    service = await serveHere(settings);
    token = await tokenFor(service.url, await register(settings, ACCOUNT));
    expect(await addWebhook(service.url, token, { url: receiver.url, eventType: 'cash_in' })).toBe(200);
  });

  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await remove();
  });

  const authorization = () => ({ authorization: `Bearer ${token}` });

  async function webhookId(): Promise<number> {
    const response = await fetch(`${service.url}/api/webhooks`, { headers: authorization() });
    const { webhooks } = (await response.json()) as { webhooks: { id: number }[] };
    return webhooks[0]?.id ?? 0;
  }

  async function page(id: number, query = ''): Promise<Page> {
    const response = await fetch(`${service.url}/api/webhooks/${id}/deliveries${query}`, { headers: authorization() });
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  }

  async function pages(id: number): Promise<Delivery[]> {
    const all: Delivery[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const found: Page = await page(id, `?limit=${PAGE}${next && `&before=${next}`}`);
      all.push(...found.deliveries);
      next = found.next;
    }
    return all;
  }

  test('a delivery is retrying until its receiver is up, then delivered; pages have each once', async () => {
    const id = await webhookId();
    const publish = (count: number, prefix: string) =>
      commandLine(settings, ['events', 'publish'], paymentEvents(ACCOUNT, count, prefix));
    await publish(1, 'first-');
    const retrying = await eventually(async () => (await page(id, '?outcome=retrying')).deliveries[0], PATIENCE);
    expect([retrying.eventId, retrying.attempts[0]]).toMatchObject(['first-0', { status: 500, version: 1 }]);
    expect(Date.parse(retrying.nextAttemptAt ?? '')).not.toBeNaN();
    isUp = true;
    const delivered = await eventually(async () => (await page(id, '?outcome=delivered')).deliveries[0], PATIENCE);
    expect(delivered).toMatchObject({ id: retrying.id, eventId: 'first-0', nextAttemptAt: null });
    expect(delivered.attempts.map(({ status }) => status)).toEqual([
      ...Array(delivered.attempts.length - 1).fill(500),
      200,
    ]);
    expect(delivered.id).toBe(receiver.requests[0]?.headers['webhook-id']);
    await publish(COUNT, 'more-');
    await eventually(
      async () => (await page(id, '?outcome=delivered&limit=200')).deliveries.length === COUNT + 1,
      PATIENCE,
    );
    const all = await pages(id);
    expect(all.map(({ eventId }) => eventId).sort()).toEqual(
      ['first-0', ...Array.from({ length: COUNT }, (_, n) => `more-${n}`)].sort(),
    );
    expect(all.at(-1)?.eventId).toBe('first-0');
  });

  test('after a restart the pages are the same, and where the file of the view was deleted', async () => {
    const id = await webhookId();
    const before = await pages(id);
    expect(before).toHaveLength(COUNT + 1);
    const { next } = await page(id, `?limit=${PAGE}`);
    await service.stop();
    service = await serveHere(settings, ['api']);
    expect(await pages(id)).toEqual(before);
    await service.stop();
    rmSync(`${settings.DATA_DIR}/deliveries-view.sqlite`);
    service = await serveHere(settings, ['api']);
    await eventually(async () => (await pages(id)).length === COUNT + 1, PATIENCE);
    expect(await pages(id)).toEqual(before);
    expect((await page(id, `?limit=200&before=${next}`)).deliveries).toEqual(before.slice(PAGE));
  });

  test('a test event reaches the URL, and is no delivery', async () => {
    const id = await webhookId();
    const response = await fetch(`${service.url}/api/webhooks/${id}/test`, {
      method: 'POST',
      headers: authorization(),
    });
    const answer = (await response.json()) as { success: boolean; result: { id: string } };
    expect(answer).toMatchObject({ success: true, message: 'the endpoint answered 200', result: { status: 200 } });
    const request = receiver.requests.at(-1);
    expect(request?.headers['webhook-id']).toBe(answer.result.id);
    expect(JSON.parse(String(request?.body))).toMatchObject({ type: 'cash_in', data: { test: true } });
    expect(await pages(id)).toHaveLength(COUNT + 1);
  });
});

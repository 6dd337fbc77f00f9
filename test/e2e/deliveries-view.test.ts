import { rmSync } from 'node:fs';
import { VIEW_FILE } from '../../src/adapters/sqlite/view/deliveries-view.js';
import { describeBackbones } from '../support/backbones.js';
import { eventually } from '../support/eventually.js';
import { Served } from '../support/served.js';
import { paymentEvents } from '../support/story.js';

const COUNT = 25;
const PAGE = 10;
const PATIENCE = { timeout: 30_000 };

interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly outcome: string;
  readonly attempts: readonly { readonly status: number | null; readonly version: number }[];
  readonly nextAttemptAt: string | null;
  readonly waitingFor: string | null;
}

interface Page {
  readonly deliveries: readonly Delivery[];
  readonly next: string | null;
}

describeBackbones((backbone) => {
  let isUp = false;
  const respond = () => ({ status: isUp ? 200 : 500 });
  const settings = { RETRY_SCHEDULE: '1s,1s,1s,1s,1s,1s,1s,1s' };
  const served = Served.around({ respond, backbone, settings });
  let id: number;
  beforeAll(async () => {
    expect(await served.addWebhook('/')).toBe(200);
    const { webhooks } = await served.call<{ webhooks: { id: number }[] }>('GET', '/api/webhooks');
    id = webhooks[0]?.id ?? 0;
  });

  const page = (query = '') => served.call<Page>('GET', `/api/webhooks/${id}/deliveries${query}`);

  async function pages(): Promise<Delivery[]> {
    const all: Delivery[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const found: Page = await page(`?limit=${PAGE}${next && `&before=${next}`}`);
      all.push(...found.deliveries);
      next = found.next;
    }
    return all;
  }

  test('a delivery is retrying until its receiver is up, then delivered; pages have each once', async () => {
    await served.publish(paymentEvents(42, 1, 'first-'));
    const scheduled = async () =>
      (await page('?outcome=retrying')).deliveries.find(({ waitingFor }) => waitingFor === 'schedule');
    const retrying = await eventually(scheduled, PATIENCE);
    expect([retrying.eventId, retrying.attempts[0]]).toMatchObject(['first-0', { status: 500, version: 1 }]);
    expect(Date.parse(retrying.nextAttemptAt ?? '')).not.toBeNaN();
    isUp = true;
    const delivered = await eventually(async () => (await page('?outcome=delivered')).deliveries[0], PATIENCE);
    expect(delivered).toMatchObject({ id: retrying.id, eventId: 'first-0', nextAttemptAt: null, waitingFor: null });
    expect(delivered.attempts.map(({ status }) => status)).toEqual([
      ...Array(delivered.attempts.length - 1).fill(500),
      200,
    ]);
    expect(delivered.id).toBe(served.receiver.requests[0]?.headers['webhook-id']);
    await served.publish(paymentEvents(42, COUNT, 'more-'));
    await eventually(
      async () => (await page('?outcome=delivered&limit=200')).deliveries.length === COUNT + 1,
      PATIENCE,
    );
    const all = await pages();
    expect(all.map(({ eventId }) => eventId).sort()).toEqual(
      ['first-0', ...Array.from({ length: COUNT }, (_, n) => `more-${n}`)].sort(),
    );
    expect(all.at(-1)?.eventId).toBe('first-0');
  });

  test('after a restart the pages are the same, and where the file of the view was deleted', async () => {
    const before = await pages();
    expect(before).toHaveLength(COUNT + 1);
    const { next } = await page(`?limit=${PAGE}`);
    await served.restart({}, ['api']);
    expect(await pages()).toEqual(before);
    await served.service.stop();
    rmSync(`${served.settings.DATA_DIR}/${VIEW_FILE}`);
    await served.serve({}, ['api']);
    await eventually(async () => (await pages()).length === COUNT + 1, PATIENCE);
    expect(await pages()).toEqual(before);
    expect((await page(`?limit=200&before=${next}`)).deliveries).toEqual(before.slice(PAGE));
  });
});

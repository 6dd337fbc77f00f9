/** Payments that a webhook missed are recovered; recover.test.ts kills the service meanwhile. */
import { eventually } from '../support/eventually.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents } from '../support/scenes/story.js';

const SINCE = '2020-01-01T00:00:00Z';
const PATIENCE = { timeout: 30_000 };

const served = Served.around({
  settings: { RETRY_SCHEDULE: '100ms', DELIVERY_TIMEOUT: '5s' },
  isProcess: true,
});

interface Listed {
  readonly events: readonly {
    readonly eventId: string;
    readonly sentTo: readonly { readonly webhookId: number; readonly deliveryId: string }[];
  }[];
}

const call = <T>(method: string, path: string, json?: object) => served.call<T>(method, path, json);
const listed = () => call<Listed>('GET', '/api/events?limit=200');
const webhookIds = async () =>
  (await call<{ webhooks: { id: number }[] }>('GET', '/api/webhooks')).webhooks.map(({ id }) => id);
const preview = async (webhook: number, include: string) =>
  (await call<{ count: number }>('GET', `/api/webhooks/${webhook}/recover?since=${SINCE}&include=${include}`)).count;
const idsSent = () => served.receiver.requests.map(({ headers }) => String(headers['webhook-id']));

/** Fulfilled once all that was published until now is in the view. */
async function published(count: number, prefix: string): Promise<void> {
  const before = (await listed()).events.length;
  await served.publish(paymentEvents(42, count, prefix));
  await eventually(async () => (await listed()).events.length === before + count, PATIENCE);
}

async function recovered(webhooks: readonly number[]): Promise<Record<string, unknown>> {
  const order = { webhookIds: webhooks, since: SINCE, include: ['missed'], perSecond: 100 };
  const { id } = await call<{ id: string }>('POST', '/api/recoveries', order);
  const progress = () => call<Record<string, unknown>>('GET', `/api/recoveries/${id}`);
  const isDone = async () => {
    const { state, count, delivered, failed, passedBy } = await progress();
    return state === 'done' && count === Number(delivered) + Number(failed) + Number(passedBy);
  };
  await eventually(isDone, PATIENCE);
  return progress();
}

test('a recovery sends each payment once that its webhooks missed, under the webhook-id that it would have had', async () => {
  await served.addWebhook('/first');
  const [first = 0] = await webhookIds();
  await published(2, 'both-');
  await call('PATCH', `/api/webhooks/${first}`, { isActive: false });
  await published(3, 'paused-');
  await call('PATCH', `/api/webhooks/${first}`, { isActive: true });
  await served.addWebhook('/second');
  const second = (await webhookIds()).find((id) => id !== first) ?? 0;
  expect(await Promise.all([preview(first, 'missed'), preview(second, 'missed')])).toEqual([3, 5]);
  expect(await preview(second, 'exhausted,retrying,held')).toBe(0);
  const before = idsSent().length;
  expect(await recovered([first, second])).toMatchObject({ count: 8, sent: 8, delivered: 8, passedBy: 0 });
  const { events } = await listed();
  expect(events.map(({ sentTo }) => sentTo.map(({ webhookId }) => webhookId))).toEqual(
    events.map(() => [first, second]),
  );
  const missed = events.flatMap(({ eventId, sentTo }) =>
    sentTo.flatMap(({ webhookId, deliveryId }) =>
      webhookId === second || eventId.startsWith('paused-') ? deliveryId : [],
    ),
  );
  expect(idsSent().slice(before).toSorted()).toEqual(missed.toSorted());
  expect(await Promise.all([preview(first, 'missed'), preview(second, 'missed')])).toEqual([0, 0]);
  expect(await recovered([first, second])).toMatchObject({ count: 0, sent: 0 });
});

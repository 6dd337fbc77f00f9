/** A retry record that names a time far away: written while a clock was ahead, or forged. It holds its tier no longer than its delay. */
import { NOT_BEGUN, progressHeader } from '../../src/delivery/delivery-progress.js';
import { ACCOUNT } from '../support/delivery-samples.js';
import { type DispatcherFixture, openInstallation } from '../support/dispatcher-fixture.js';
import { eventually } from '../support/eventually.js';
import { payment } from '../support/poison.js';
import { startReceiver } from '../support/receiver.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const TIER = { text: '50ms', ms: 50 };
const FAR = Date.UTC(2100, 0);

let folder: ReturnType<typeof temporaryDirectory>;
let installation: DispatcherFixture;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  folder = temporaryDirectory();
  installation = await openInstallation(`${folder.path}/data`);
});

afterEach(async () => {
  await installation.close();
  for (const cleanup of cleanups.splice(0)) await cleanup();
  folder.remove();
});

test('it is tried when its tier is over, and so are those behind it', async () => {
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  await installation.account(ACCOUNT);
  await installation.webhook({ id: 1, accountId: ACCOUNT, url: `${receiver.url}/` });
  const webhookEvent = String(installation.accounts.webhook(ACCOUNT, 1)?.addedBy);
  const none = { cloudEvent: null, payment: null, publishedAt: null, trace: null };
  const event = { ...NOT_BEGUN, ...none, accountId: ACCOUNT, webhookId: 1, webhookEvent, eventType: 'cash_in' };
  const retry = (id: string, due: number) => ({
    key: null,
    value: Buffer.from(payment(id)),
    headers: [progressHeader({ ...event, id, eventId: id, attempts: 1, step: 1, due })],
  });
  await installation.broker.publish(`webhooks.retry.${TIER.text}`, [retry('far', FAR), retry('behind', 0)]);
  await installation.dispatch({ schedule: [TIER] });
  await eventually(() => receiver.requests.length === 2);
  // Sent at once: which of them arrives first is not promised.
  const arrived = receiver.requests.map(({ headers }) => String(headers['webhook-id']));
  expect(arrived.sort()).toEqual(['behind', 'far']);
});

import { runChecks } from '../../src/doctor/check.js';
import { storeChecks } from '../../src/doctor/store-checks.js';
import { type EventStore, type NewEvent, StoreRefused } from '../../src/ports/event-store.js';
import { readConfig } from '../../src/settings/read-config.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const LIMIT_MS = 10_000;
const DENIED = 'the user of EVENT_STORE_URL may not read $all';

let folder: ReturnType<typeof temporaryDirectory>;
let embedded: ReturnType<typeof openSqliteStore>;

beforeEach(() => {
  folder = temporaryDirectory();
  embedded = openSqliteStore(folder.path);
});

afterEach(async () => {
  await embedded.close();
  folder.remove();
});

async function found(subscribe: EventStore['subscribe'], limitMs = LIMIT_MS) {
  const store = new Proxy(embedded.store, {
    get: (target, key) => (key === 'subscribe' ? subscribe : Reflect.get(target, key).bind(target)),
  });
  const opened = async () => ({ store, projections: null });
  const checks = storeChecks(readConfig({ DATA_DIR: folder.path, MASTER_KEY }), opened, false);
  return runChecks(checks, limitMs);
}

it('a store that can be read and appended to, but not subscribed to: its check fails with the sentence, once', async () => {
  const results = await found(async function* () {
    yield* [];
    throw new StoreRefused(DENIED);
  });
  expect(results).toEqual([
    expect.objectContaining({ check: 'event store', verdict: 'FAIL', says: DENIED }),
    expect.objectContaining({ check: 'history', verdict: 'warn' }),
    expect.objectContaining({ check: 'MASTER_KEY', verdict: 'warn' }),
    expect.objectContaining({ check: 'accounts', verdict: 'warn' }),
  ]);
});

it('an account with an event that can’t be read is named, with the event; of the others all is looked at', async () => {
  const append = (accountId: number, event: Pick<NewEvent, 'type' | 'data'>, revision: number) =>
    embedded.store.append(
      `account-${accountId}`,
      [{ id: `e${accountId}-${revision}`, metadata: {}, ...event }],
      revision,
    );
  for (const accountId of [1, 2]) await append(accountId, { type: 'AccountRegistered', data: { accountId } }, -1);
  await append(1, { type: 'WebhookRemoved', data: {} }, 0);
  await append(1, { type: 'WebhookRemoved', data: {} }, 1);
  const results = await found((options) => embedded.store.subscribe(options));
  expect(results.filter(({ check }) => check === 'accounts')).toEqual([
    {
      ...{ check: 'accounts', verdict: 'FAIL' },
      says: "account 1 is set aside: event 1 (WebhookRemoved, e1-0) can't be read: its data has no webhookId",
      todo: expect.stringMatching(/dead-letters replay$/),
    },
  ]);
  expect(results.find(({ check }) => check === 'MASTER_KEY')?.verdict).toBe('ok');
});

it('a subscription that never catches up: told within the limit of the check', async () => {
  const results = await found(async function* ({ signal }) {
    yield { events: [], position: '', caughtUp: false };
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }, 200);
  expect(results[0]).toMatchObject({ check: 'event store', verdict: 'FAIL', says: 'no answer within 0.2 s' });
});

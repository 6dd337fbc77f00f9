import { randomUUID } from 'node:crypto';
import { driver } from '../../src/adapters/sqlite/open-file.js';
import { NO_STREAM } from '../../src/ports/event-store.js';
import { AccountUnreadable, setAsideText } from '../../src/read-model/account-unreadable.js';
import { createAccounts, createCommandAccounts } from '../../src/read-model/accounts.js';
import { StoreLookups } from '../../src/read-model/store-lookups.js';
import { accountStream, streamOf } from '../../src/webhooks/events.js';
import { createKeyedCommandHandler } from '../../src/webhooks/handle-command.js';
import { eventually } from '../support/clocks/eventually.js';
import { added, CONTEXT, register, registered } from '../support/generators/webhook-samples.js';
import { commandDeps } from '../support/scenes/command-deps.js';
import { ProjectionHostFixture, waitUntilProjected } from '../support/scenes/projection-host-fixture.js';

let fixture: ProjectionHostFixture;
beforeEach(() => {
  fixture = new ProjectionHostFixture();
});
afterEach(() => fixture.close());

/** As no release of ours writes it. */
function appendBad(accountId: number, data: unknown, revision: number, type = 'WebhookUpdated') {
  const event = { id: randomUUID(), type, data: data as Record<string, unknown>, metadata: {} };
  return fixture.store.append(accountStream(accountId), [event], revision);
}

/** In the file itself: not even JSON. */
function overwrite(sql: string): void {
  const file = new (driver())(fixture.path('store.sqlite'));
  file.exec(sql);
  file.close();
}

it.each([
  ['null', null],
  ['text', 'some text'],
  ['a list', []],
  ['an object that lacks a field', { webhookId: 7 }],
])('an event whose data is %s sets its account aside, and no other', async (_, data) => {
  const host = await fixture.started();
  await fixture.append(1, [registered(1), added(7)]);
  await appendBad(1, data, 1);
  await fixture.append(1, [added(8)], 2);
  const { revision } = await fixture.append(2, [registered(2), added(9)]);
  await waitUntilProjected(host, 2, revision);
  expect(host.progress.kind).toBe('live');
  expect([...host.known.setAside.keys()]).toEqual([accountStream(1)]);
  expect(() => host.known.cached(accountStream(1))).toThrow(AccountUnreadable);
  await expect(host.known.latest(accountStream(1))).rejects.toThrow(
    /^account 1 is set aside: event 2 \(WebhookUpdated, /,
  );
  await host.passHead(AbortSignal.timeout(5_000));
});

it('a restart remembers, without what was read before', async () => {
  const first = await fixture.started();
  await fixture.append(1, [registered(1)]);
  await appendBad(1, null, 0);
  await eventually(() => first.known.setAside.size > 0);
  await fixture.reopenStates(() => undefined);
  const second = await fixture.started();
  expect([...second.known.setAside.keys()]).toEqual(['account-1']);
  await fixture.append(1, [added(7)], 1);
  await second.passHead(AbortSignal.timeout(5_000));
  expect([...second.known.setAside.keys()]).toEqual(['account-1']);
});

it('a start tries such an account again: where its events can be read it is folded, with its keys', async () => {
  const first = await fixture.started();
  await fixture.append(1, [registered(1)]);
  const key = { key: 'k', request: 'r', isOf: () => true };
  await appendBad(1, null, 0);
  await eventually(() => first.known.setAside.size > 0);
  const webhook = { id: 8, url: 'https://shop.example.com/a', createdAt: '2026-11-21T09:00:00.000Z' };
  const keyed = {
    ...CONTEXT,
    idempotency: { key: key.key, request: key.request, at: Date.now(), webhooks: [webhook] },
  };
  const event = { id: randomUUID(), ...added(8), metadata: keyed };
  await fixture.store.append(accountStream(1), [{ ...event, data: { ...event.data } }], 1);
  await first.passHead(AbortSignal.timeout(5_000));
  // As another release would read it.
  await fixture.reopenStates(() =>
    overwrite(`UPDATE events SET type = 'OfALaterRelease' WHERE stream = 'account-1' AND revision = 1`),
  );
  const second = await fixture.started();
  expect(second.known.setAside.size).toBe(0);
  expect(second.known.cached(accountStream(1))?.state['account-webhooks'].webhooks.map(({ id }) => id)).toEqual([8]);
  expect(second.known.key(accountStream(1), 'k')).toMatchObject({ request: 'r' });
  await fixture.append(1, [added(9)], 2);
  await waitUntilProjected(second, 1, 3);
  await fixture.reopenStates(() => undefined);
  const third = await fixture.started();
  expect([third.known.setAside.size, third.known.cached(accountStream(1))?.revision]).toEqual([0, 3]);
});

it('a publisher is named as one', () => {
  expect(setAsideText(streamOf('ledger'), { why: 'it was deleted' })).toBe(
    'publisher ledger is set aside: it was deleted',
  );
});

it('nothing is known of such an account, and its commands fail', async () => {
  const host = await fixture.started();
  await fixture.append(1, [registered(1), added(7)]);
  await appendBad(1, null, 1);
  await eventually(() => host.known.setAside.size > 0);
  const accounts = createAccounts(
    host.known,
    new StoreLookups(
      () => performance.now(),
      (signal) => host.passHead(signal),
    ),
  );
  expect(accounts.unreadable(1)).toMatch(/^account 1 is set aside: event 2 /);
  expect(accounts.unreadable(2)).toBeNull();
  expect(accounts.routes(1, 'cash_in')).toEqual({ revision: NO_STREAM, webhooks: [] });
  expect([accounts.webhook(1, 7), accounts.failingEndpoint(1, 'https://a/')]).toEqual([undefined, undefined]);
  for (const asked of [accounts.webhooks(1), accounts.webhooksNow(1), accounts.credential(1, 'c')]) {
    await expect(asked).rejects.toThrow(AccountUnreadable);
  }
  const handle = createKeyedCommandHandler(
    commandDeps({ store: fixture.store, accounts: createCommandAccounts(host.known) }),
  );
  await expect(handle(1, null, async () => register('a'), CONTEXT)).rejects.toThrow(AccountUnreadable);
});

it('what this process knew ahead of its read model does not outlive that', async () => {
  const host = await fixture.started();
  const accounts = createCommandAccounts(host.known);
  await fixture.append(1, [registered(1), added(7)]);
  await accounts.load(1);
  await appendBad(1, null, 1);
  await eventually(() => host.known.setAside.size > 0);
  await expect(accounts.load(1)).rejects.toThrow(AccountUnreadable);
});

import { randomUUID } from 'node:crypto';
import { type EventStore, NO_STREAM } from '../../src/ports/event-store.js';
import { type AuditEntry, auditLog, configurationAt } from '../../src/read-model/account-log.js';
import { type CommandContext, enveloped, withKey } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import { AT, added, CONTEXT, registered } from '../support/generators/webhook-samples.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';

let store: EventStore;
let close: () => Promise<void>;
let remove: () => void;
beforeEach(() => {
  const directory = temporaryDirectory();
  ({ store, close } = openSqliteStore(directory.path));
  remove = directory.remove;
});
afterEach(async () => {
  await close();
  remove();
});

async function append(
  events: readonly AccountEvent[],
  context: CommandContext = CONTEXT,
  after = NO_STREAM,
  accountId = 42,
) {
  await store.append(accountStream(accountId), enveloped(events, context, randomUUID), after);
}

async function entries(accountId = 42): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for await (const entry of auditLog(store, accountId)) all.push(entry);
  return all;
}

const LATER = '2026-11-04T11:30:00.123Z';
const FAILING = { endpoint: 'https://a/', since: AT, lastFailure: { at: AT, status: 503, error: null } };

describe("an account's history", () => {
  test('an event that can’t be read is named, and what comes after it is shown', async () => {
    await append([registered()]);
    const bad = { id: randomUUID(), type: 'WebhookAdded', data: null as unknown as object, metadata: {} };
    await store.append(accountStream(42), [{ ...bad, data: bad.data as Record<string, unknown> }], 0);
    await append([added(7)], CONTEXT, 1);
    const [first, second, third] = await entries();
    expect(second).toMatchObject({
      revision: 1,
      at: null,
      actor: null,
      unreadable: expect.stringContaining('its data is no JSON object'),
    });
    for (const entry of [first, third]) expect(entry).not.toHaveProperty('unreadable');
    await expect(configurationAt(store, 42, Date.parse(LATER))).rejects.toThrow(/^account 42 is set aside: event 1 \(/);
  });

  test('an entry is what was decided, when, by whom, and by which request', async () => {
    await append([registered()], { actor: 'cli:alice', requestId: 'request-9', correlationId: 'correlation-9' });
    expect(await entries()).toEqual([
      {
        revision: 0,
        at: AT,
        type: 'AccountRegistered',
        actor: 'cli:alice',
        requestId: 'request-9',
        correlationId: 'correlation-9',
        traceparent: null,
        data: { accountId: 42, registeredAt: AT },
      },
    ]);
  });

  test('of a key that changed nothing it has the time of that key', async () => {
    const used: AccountEvent = { type: 'IdempotencyKeyUsed', data: { webhookId: 7, version: 1 } };
    const use = { key: 'k', request: 'r', at: Date.parse(LATER), webhooks: [] };
    await store.append(accountStream(42), withKey(enveloped([used], CONTEXT, randomUUID), use), NO_STREAM);
    expect(await entries()).toMatchObject([{ at: LATER, type: 'IdempotencyKeyUsed' }]);
  });

  const kinds: readonly AccountEvent[] = [
    { type: 'CredentialRevoked', data: { clientId: 'client-1', revokedAt: LATER } },
    { type: 'DeactivationAnnounced', data: { ...FAILING, deactivatesAt: AT, announcedAt: LATER } },
  ];
  test.each(kinds)('$type: has its own time and the whole of its data', async (event) => {
    await append([event]);
    expect(await entries()).toMatchObject([{ at: LATER, type: event.type, data: event.data }]);
  });

  test('an event of a later release, with no time and no actor, is told all the same', async () => {
    await store.append(
      accountStream(42),
      [{ id: randomUUID(), type: 'WebhookPainted', data: { colour: 'red', paintedAt: 5 }, metadata: { actor: 7 } }],
      NO_STREAM,
    );
    expect(await entries()).toEqual([
      {
        revision: 0,
        at: null,
        type: 'WebhookPainted',
        actor: null,
        requestId: null,
        correlationId: null,
        traceparent: null,
        data: { colour: 'red', paintedAt: 5 },
      },
    ]);
  });
});

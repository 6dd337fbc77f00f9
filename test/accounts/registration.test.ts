import { randomBytes, randomUUID } from 'node:crypto';
import { ownerOf, secretMatches } from '../../src/accounts/client-credentials.js';
import {
  createRegistration,
  type Registration,
  type RegistrationParts,
  RegistrationRefused,
} from '../../src/accounts/registration.js';
import type { EventStore, RecordedEvent } from '../../src/ports/event-store.js';
import { signingAt } from '../../src/read-model/sealed-values.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, signingSecretPlace } from '../../src/secrets/sealing.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { SealedSecret } from '../../src/webhooks/state.js';
import { AT, CONTEXT } from '../support/generators/webhook-samples.js';
import { temporaryDirectory } from '../support/scenes/temporary-directory.js';
import { bound } from '../support/servers/bound-store.js';
import { openSqliteStore } from '../support/servers/sqlite-store.js';

const SEALING = createSealing([masterKey(Buffer.alloc(32, 1))], randomBytes);
const UNRESERVED = /^[A-Za-z0-9\-_.~]+$/;

let directory: ReturnType<typeof temporaryDirectory>;
let opened: ReturnType<typeof openSqliteStore>;
let registration: Registration;
let time: number;

beforeEach(() => {
  time = Date.parse(AT);
  directory = temporaryDirectory();
  opened = openSqliteStore(directory.path);
  registration = over(opened.store);
});

afterEach(async () => {
  await opened.close();
  directory.remove();
});

function over(store: EventStore, more: Partial<RegistrationParts> = {}): Registration {
  const now = () => new Date(time);
  return createRegistration({ store, sealing: SEALING, randomBytes, newEventId: randomUUID, now, ...more });
}

/** Counts the events that are read. */
function counting() {
  let count = 0;
  const store: EventStore = {
    ...bound(opened.store),
    async *read(...args) {
      for await (const event of opened.store.read(...args)) {
        count += 1;
        yield event;
      }
    },
  };
  return { store, read: () => count };
}

/** Issues a credential of account 42 after as many other events. */
async function afterHistoryOf(count: number) {
  const revision = (await history(42)).length - 1;
  const filler = { type: 'WebhookUpdated', data: {}, metadata: {} };
  const events = Array.from({ length: count }, () => ({ ...filler, id: randomUUID() }));
  await opened.store.append(accountStream(42), events, revision);
  return registration.issueCredential(42, CONTEXT);
}

async function history(accountId: number): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of opened.store.read(accountStream(accountId))) events.push(event);
  return events;
}

const types = async (accountId: number) => (await history(accountId)).map(({ type }) => type);

const refused = (why: string) => new RegistrationRefused(why);

const REGISTERED = ['AccountRegistered', 'CredentialIssued', 'SigningSecretIssued'];

describe('register', () => {
  it('gives credentials whose id names the account, in characters that no encoding changes', async () => {
    const { accountId, clientId, clientSecret, signingSecret } = await registration.register(42, CONTEXT);
    expect(accountId).toBe(42);
    expect(clientId).toMatch(UNRESERVED);
    expect(clientSecret).toMatch(UNRESERVED);
    expect(ownerOf(clientId)).toBe(42);
    expect(Buffer.from(clientSecret, 'base64url')).toHaveLength(32);
    const secret = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(signingSecret)?.[1] ?? '';
    const { length } = Buffer.from(secret, 'base64');
    expect(length >= 24 && length <= 64).toBe(true);
  });

  it('stores three events at once, with who did it, the secret hashed and the signing secret sealed', async () => {
    const { clientId, clientSecret, signingSecret } = await registration.register(42, CONTEXT);
    const [registered, credential, secret] = await history(42);
    expect(registered).toMatchObject({ type: 'AccountRegistered', data: { accountId: 42, registeredAt: AT } });
    expect(credential).toMatchObject({ type: 'CredentialIssued', data: { clientId, issuedAt: AT } });
    expect(secretMatches(clientSecret, String(credential?.data.secretHash))).toBe(true);
    expect(secret).toMatchObject({ type: 'SigningSecretIssued', data: { issuedAt: AT } });
    expect(SEALING.open(String(secret?.data.sealed), signingSecretPlace(42))).toBe(signingSecret);
    expect((await history(42)).map(({ metadata }) => metadata.actor)).toEqual(['test', 'test', 'test']);
  });

  it('refuses a second time, and nothing changes', async () => {
    await registration.register(42, CONTEXT);
    const before = await history(42);
    await expect(registration.register(42, CONTEXT)).rejects.toThrow(refused('account 42 is already registered'));
    expect(await history(42)).toEqual(before);
  });
});

describe('what comes after', () => {
  it('is refused for an account that is not registered, and stores nothing', async () => {
    const unknown = refused('account 7 is not registered');
    await expect(registration.issueCredential(7, CONTEXT)).rejects.toThrow(unknown);
    await expect(registration.rotateSecret(7, CONTEXT)).rejects.toThrow(unknown);
    expect(await history(7)).toEqual([]);
  });

  it('issues one more credential beside the first', async () => {
    const first = await registration.register(42, CONTEXT);
    const second = await registration.issueCredential(42, CONTEXT);
    expect(second.clientId).not.toBe(first.clientId);
    expect(second.clientSecret).not.toBe(first.clientSecret);
    expect(ownerOf(second.clientId)).toBe(42);
    expect((await types(42)).slice(3)).toEqual(['CredentialIssued']);
  });

  it('revokes a credential, and again where it is asked again', async () => {
    const { clientId } = await registration.register(42, CONTEXT);
    expect(await registration.revokeCredential(clientId, CONTEXT)).toEqual({ accountId: 42, clientId });
    expect(await registration.revokeCredential(clientId, CONTEXT)).toEqual({ accountId: 42, clientId });
    expect((await types(42)).slice(3)).toEqual(['CredentialRevoked', 'CredentialRevoked']);
  });

  it('revokes a credential without reading the other events of a long history', async () => {
    await registration.register(42, CONTEXT);
    const { clientId } = await afterHistoryOf(500);
    const { store, read } = counting();
    await over(store).revokeCredential(clientId, CONTEXT);
    expect(read()).toBe(2);
    expect((await types(42)).at(-1)).toBe('CredentialRevoked');
  });

  it('revokes a credential that a read model has without reading the history', async () => {
    await registration.register(42, CONTEXT);
    const { clientId } = await afterHistoryOf(1);
    const { store, read } = counting();
    const isKnownCredential = async (owner: unknown, id: string) => owner === 42 && id === clientId;
    await over(store, { isKnownCredential }).revokeCredential(clientId, CONTEXT);
    expect(read()).toBe(0);
  });

  it('revokes a credential of an account that writes all the time, and reads no further than to the credential', async () => {
    const { clientId } = await registration.register(42, CONTEXT);
    let conflicts = 0;
    const { store, read } = counting();
    const busy: EventStore = {
      ...store,
      async append(stream, events, revision) {
        if (conflicts < 5) {
          conflicts += 1;
          await registration.issueCredential(42, CONTEXT);
        }
        return opened.store.append(stream, events, revision);
      },
    };
    await over(busy).revokeCredential(clientId, CONTEXT);
    expect([conflicts, read()]).toEqual([5, 1]);
    expect((await types(42)).at(-1)).toBe('CredentialRevoked');
  });

  it.each(['', 'acct_42', 'acct_042_0123456789abcdef', '__proto__', 'acct_42_0123456789abcdef'])(
    'revokes nothing for %j, which was never issued',
    async (clientId) => {
      await registration.register(42, CONTEXT);
      const unknown = refused(`no credential has the client id ${clientId}`);
      await expect(registration.revokeCredential(clientId, CONTEXT)).rejects.toThrow(unknown);
      expect(await types(42)).toEqual(REGISTERED);
    },
  );
});

it('a rotated secret says when the one before it ends, which is when that signs no more', async () => {
  await registration.register(42, CONTEXT);
  time += 60_000;
  const { previousEndsAt, ...rotated } = await registration.rotateSecret(42, CONTEXT);
  expect(rotated).toEqual({ accountId: 42, signingSecret: expect.stringMatching(/^whsec_/) });
  const issued = (await history(42)).filter(({ type }) => type === 'SigningSecretIssued');
  const secrets = issued.map(({ data }) => data as unknown as SealedSecret);
  const signing = (ms: number) => signingAt(Date.parse(previousEndsAt) + ms, secrets).length;
  expect(previousEndsAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect([signing(-1), signing(0)]).toEqual([2, 1]);
});

import type { Client } from '../support/clients/api-client.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { accountForEachTest, type RunningApi, startApiOnServer } from '../support/scenes/api-fixture.js';

const DAY_MS = 24 * 3_600_000;

interface Rotated {
  readonly secret: string;
  readonly endsAt: string;
}

interface Listed {
  readonly secrets: readonly { readonly issuedAt: string; readonly endsAt: string | null }[];
}

let api: RunningApi;
let other: RunningApi;
let client: Client;
accountForEachTest((...given) => {
  [client, api] = given;
}, startApiOnServer);
beforeEach(async () => {
  other ??= await api.beside();
});

const rotate = (json?: unknown, by = client) => by.send<Rotated>('POST', '/api/signing-secrets', { json });
const list = async (by = client) => (await by.send<Listed>('GET', '/api/signing-secrets')).body.secrets;

test('a new secret is shown once; the one before signs for a day, as the list says in every process', async () => {
  const before = await list();
  expect(before).toEqual([{ issuedAt: expect.any(String), endsAt: null }]);
  const began = Date.now();
  const { status, body } = await rotate();
  const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect({ status, body }).toMatchObject({ status: 201, body: { secret } });
  const left = Date.parse(body.endsAt) - DAY_MS;
  expect(left >= began && left <= Date.now()).toBe(true);
  const after = [
    { ...before[0], endsAt: body.endsAt },
    { issuedAt: new Date(left).toISOString(), endsAt: null },
  ];
  expect([await list(), await list(client.at(other.url))]).toEqual([after, after]);
});

test('five secrets sign at most, however many processes are asked, and the command line is not limited', async () => {
  const all = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => rotate({}, n % 2 ? client : client.at(other.url))));
  expect(all.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 409, 409]);
  expect(await list()).toHaveLength(5);
  await api.registration.rotateSecret(client.credential.accountId, CONTEXT);
  expect(await list()).toHaveLength(6);
});

test('a rotation that revokes leaves the new secret alone, in every process, however many sign, and says so', async () => {
  for (let n = 0; n < 4; n += 1) await rotate({});
  expect((await rotate({ revokePrevious: false })).status).toBe(409);
  const began = Date.now();
  const { status, body } = await rotate({ revokePrevious: true });
  expect(status).toBe(201);
  expect(Date.parse(body.endsAt) >= began && Date.parse(body.endsAt) <= Date.now()).toBe(true);
  const alone = [{ issuedAt: body.endsAt, endsAt: null }];
  expect([await list(), await list(client.at(other.url))]).toEqual([alone, alone]);
  const actor = client.credential.clientId;
  const events = ['SigningSecretsRevoked', 'SigningSecretIssued'].map((type) => ({ type, actor }));
  expect((await client.send('GET', '/api/history?limit=2')).body).toMatchObject({ events });
});

test.each([
  [{ revokePrevious: 'yes' }, 400],
  [[], 400],
  [undefined, 201],
])('a rotation with the body %j is %i', async (json, status) => {
  expect((await rotate(json)).status).toBe(status);
  expect(await list()).toHaveLength(status === 201 ? 2 : 1);
});

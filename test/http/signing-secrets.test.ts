import type { Client } from '../support/clients/api-client.js';
import { CONTEXT } from '../support/generators/webhook-samples.js';
import { type RunningApi, startApiOnServer } from '../support/scenes/api-fixture.js';

const DAY_MS = 24 * 3_600_000;

interface Rotated {
  readonly secret: string;
  readonly endsAt: string;
}

interface Listed {
  readonly secrets: readonly { readonly issuedAt: string; readonly endsAt: string | null }[];
}

let api: RunningApi;
let client: Client;

beforeAll(async () => {
  api = await startApiOnServer();
  client = await api.account(42);
});

afterAll(() => api.close());

const rotate = async (by = client, bytes?: string) => {
  const headers = { 'content-type': 'application/json' };
  const { status, body } = await by.send('POST', '/api/signing-secrets', bytes === undefined ? {} : { headers, bytes });
  return { status, ...(body as unknown as Rotated) };
};
const list = async (by = client) => (await by.send('GET', '/api/signing-secrets')).body as unknown as Listed;

test('a new secret is shown once; the one before signs for a day, as the list says in every process', async () => {
  const { secrets: before } = await list();
  expect(before).toEqual([{ issuedAt: expect.any(String), endsAt: null }]);
  const began = Date.now();
  const { status, secret, endsAt } = await rotate();
  expect({ status, secret }).toEqual({ status: 201, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) });
  const left = Date.parse(endsAt) - DAY_MS;
  expect(left >= began && left <= Date.now()).toBe(true);
  const after = [
    { ...before[0], endsAt },
    { issuedAt: new Date(left).toISOString(), endsAt: null },
  ];
  expect((await list()).secrets).toEqual(after);
  const other = await api.beside();
  try {
    const shown = await client.at(other.url).send('GET', '/api/signing-secrets');
    expect(shown.body).toEqual({ secrets: after });
    expect(JSON.stringify(shown)).not.toContain('whsec_');
  } finally {
    await other.close();
  }
});

test('five secrets sign at most, however many processes are asked, and the command line is not limited', async () => {
  const account = await api.account(43);
  const other = await api.beside();
  try {
    const all = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => rotate(n % 2 ? account : account.at(other.url))));
    expect(all.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 409, 409]);
    expect((await list(account)).secrets).toHaveLength(5);
    await api.registration.rotateSecret(43, CONTEXT);
    expect((await list(account)).secrets).toHaveLength(6);
  } finally {
    await other.close();
  }
});

test('a rotation that revokes leaves the new secret alone, in every process, however many sign, and says so', async () => {
  const account = await api.account(45);
  const other = await api.beside();
  try {
    for (let n = 0; n < 4; n += 1) await rotate(account, '{}');
    expect((await rotate(account, '{"revokePrevious":false}')).status).toBe(409);
    const began = Date.now();
    const { status, endsAt } = await rotate(account, '{"revokePrevious":true}');
    expect(status).toBe(201);
    expect(Date.parse(endsAt) >= began && Date.parse(endsAt) <= Date.now()).toBe(true);
    const alone = { secrets: [{ issuedAt: endsAt, endsAt: null }] };
    expect([await list(account), await list(account.at(other.url))]).toEqual([alone, alone]);
    const { body } = await account.send('GET', '/api/history?limit=2');
    const { events } = body as unknown as { events: { type: string; actor: string }[] };
    const actor = account.credential.clientId;
    const types = ['SigningSecretsRevoked', 'SigningSecretIssued'];
    expect(events).toEqual(types.map((type) => expect.objectContaining({ type, actor })));
  } finally {
    await other.close();
  }
});

test.each([
  ['{"revokePrevious":"yes"}', 400],
  ['[]', 400],
  ['', 201],
])('a rotation with the body %j is %i', async (bytes, status) => {
  const { secrets } = await list();
  expect((await rotate(client, bytes)).status).toBe(status);
  expect((await list()).secrets).toHaveLength(secrets.length + (status === 201 ? 1 : 0));
});

test("another account's secrets are its own", async () => {
  const account = await api.account(44);
  await rotate();
  expect((await list(account)).secrets).toHaveLength(1);
});

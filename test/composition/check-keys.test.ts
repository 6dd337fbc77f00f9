import { randomBytes } from 'node:crypto';
import { checkKeys } from '../../src/composition/backbone.js';
import { sealedValues } from '../../src/read-model/sealed-values.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, headerPlace, signingSecretPlace } from '../../src/secrets/sealing.js';
import { InvalidConfig } from '../../src/settings/invalid-config.js';
import type { AccountState, Webhook } from '../../src/webhooks/state.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-21T09:00:00.000Z');
const [KEY, EARLIER] = [masterKey(Buffer.alloc(32, 1)), masterKey(Buffer.alloc(32, 2))];
const sealing = createSealing([KEY], randomBytes);
const earlier = createSealing([EARLIER], randomBytes);

const secret = (by: typeof sealing, hoursAgo = 0) => ({
  sealed: by.seal('whsec_', signingSecretPlace(42)),
  issuedAt: new Date(NOW - hoursAgo * HOUR).toISOString(),
});
const header = (by: typeof sealing) => ({ key: 'X-A', sealed: by.seal('a', headerPlace(42, 'X-A')) });

const ofWebhooks = (accountId: number, webhooks: Webhook[]) => ({ accountId, webhooks, failing: [], recoveries: [] });

/** Account 42 with these, between two accounts of which nothing is wrong. */
function check({ secrets = [secret(sealing)], webhooks = [] as Webhook[], by = sealing }) {
  const states = (account: AccountState['account-webhooks'], signingSecrets: typeof secrets): AccountState => ({
    'account-webhooks': account,
    'account-credentials': { accountId: 42, credentials: [], signingSecrets, sessions: [] },
  });
  const other = states(ofWebhooks(43, [webhookOf(9, { headers: [header(sealing)] })]), []);
  const all = [
    ['account-41', other] as const,
    ['account-42', states(ofWebhooks(42, webhooks), secrets)] as const,
    ['account-43', other] as const,
  ];
  const values = sealedValues({ all: () => all }, NOW);
  return () => checkKeys(values, by);
}

describe('a key that is not given is refused, by the names of its settings and its account', () => {
  test.each([
    ['a signing secret', { secrets: [secret(earlier)] }],
    [
      'a signing secret that was replaced less than 24 hours ago',
      { secrets: [secret(earlier, 99), secret(sealing, 23)] },
    ],
    ['a header', { webhooks: [webhookOf(1), webhookOf(2, { headers: [header(sealing), header(earlier)] })] }],
    ['a header of an inactive webhook', { webhooks: [webhookOf(1, { isActive: false, headers: [header(earlier)] })] }],
  ])('%s', async (_, what) => {
    await expect(check(what)()).rejects.toThrow(InvalidConfig);
    await expect(check(what)()).rejects.toThrow(/^MASTER_KEY .* account-42 .* MASTER_KEY_PREVIOUS$/);
    const both = createSealing([KEY, EARLIER], randomBytes);
    await expect(check({ ...what, by: both })()).resolves.toBeUndefined();
  });
});

/** Of another form no header passes the fold: foldable.test.ts. */
test('a history with a value that is not sealed does not keep the service from its start', async () => {
  const headers = ['plain', 'v2.01234567.AA'].map((sealed) => ({ key: 'X-A', sealed }));
  const broken = webhookOf(1, { headers });
  await expect(check({ webhooks: [broken] })()).resolves.toBeUndefined();
  await expect(check({ webhooks: [broken, webhookOf(2, { headers: [header(earlier)] })] })()).rejects.toThrow(
    /^MASTER_KEY /,
  );
});

test('a signing secret that signs no more may be of any key', async () => {
  await expect(check({ secrets: [secret(earlier, 99), secret(sealing, 25)] })()).resolves.toBeUndefined();
});

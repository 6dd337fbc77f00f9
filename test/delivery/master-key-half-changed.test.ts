/** While MASTER_KEY is being changed, some processes have the new key already and others only the earlier one. */
import { randomBytes } from 'node:crypto';
import { createDeliverySecrets } from '../../src/delivery/attempt/send.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { createSealing, headerPlace, type Sealing, signingSecretPlace } from '../../src/secrets/sealing.js';
import { DeliverFixture } from '../support/deliver-fixture.js';
import { ACCOUNT, deliveryTo, NOW } from '../support/delivery-samples.js';
import { webhookOf } from '../support/fake-accounts.js';

const [EARLIER, NEW] = [masterKey(Buffer.alloc(32, 1)), masterKey(Buffer.alloc(32, 2))];
const changed = createSealing([NEW, EARLIER], randomBytes);
const unchanged = createSealing([EARLIER], randomBytes);
/** The first step of a change: it opens what the others seal once they have the new key. */
const prepared = createSealing([EARLIER, NEW], randomBytes);
const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;

let secretBy: Sealing;
let headerBy: Sealing;
beforeEach(() => {
  secretBy = headerBy = unchanged;
});

/** A process with the keys of `own`; the account's values are sealed by others. */
function processWith(own: Sealing): DeliverFixture {
  const fixture: DeliverFixture = new DeliverFixture({
    configuration: {
      headers: (...asked) => secrets().headers(...asked),
      secrets: (accountId) => secrets().secrets(accountId),
    },
  });
  const secrets = () => createDeliverySecrets(fixture.accounts, own, () => NOW);
  const sealed = headerBy.seal('the value', headerPlace(ACCOUNT, 'X-Api-Key'));
  fixture.accounts.put(webhookOf(1, { headers: [{ key: 'X-Api-Key', sealed }] }));
  const issuedAt = new Date(NOW).toISOString();
  fixture.accounts.secrets.push({ sealed: secretBy.seal(SECRET, signingSecretPlace(ACCOUNT)), issuedAt });
  return fixture;
}

const SENT = [{ headers: [{ key: 'X-Api-Key', value: 'the value' }], secrets: [Buffer.alloc(32, 3)] }];

test.each<[string, () => void]>([
  ['a header', () => (headerBy = changed)],
  ['the signing secret', () => (secretBy = changed)],
])('a process without the new key sends nothing if it sealed %s; one with it does', async (_, seal) => {
  seal();
  const old = processWith(unchanged);
  await old.deliver(deliveryTo(1));
  expect(old.requests).toEqual([]);
  expect(old.waiting).toMatchObject([{ tier: 'deferred.5s', delivery: { attempts: 0 } }]);
  expect(old.deadLetters).toEqual([]);
  const err = expect.objectContaining({ message: expect.stringMatching(/MASTER_KEY: .* MASTER_KEY_PREVIOUS$/) });
  expect(old.logger.errors).toEqual([[expect.objectContaining({ err, accountId: ACCOUNT }), expect.any(String)]]);

  const [waiting] = old.waiting;
  const other = processWith(changed);
  if (waiting) await other.deliver(waiting.delivery);
  expect(other.requests).toMatchObject(SENT);
});

test('a process that has the new key as MASTER_KEY_PREVIOUS sends what the others sealed with it', async () => {
  headerBy = secretBy = changed;
  const { requests, deliver } = processWith(prepared);
  await deliver(deliveryTo(1));
  expect(requests).toMatchObject(SENT);
});

test('a process with the new key sends what the others go on sealing with the earlier one', async () => {
  const { requests, deliver } = processWith(changed);
  await deliver(deliveryTo(1));
  expect(requests).toMatchObject(SENT);
});

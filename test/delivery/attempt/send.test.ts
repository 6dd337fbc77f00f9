import { Webhook as StandardWebhook } from 'standardwebhooks';
import { createDeliverySecrets } from '../../../src/delivery/attempt/send.js';
import { signatureOf } from '../../../src/delivery/attempt/signature.js';
import type { Accounts } from '../../../src/read-model/accounts.js';
import { masterKey } from '../../../src/secrets/master-keys.js';
import { CannotOpen, createSealing, headerPlace, signingSecretPlace } from '../../../src/secrets/sealing.js';
import { ACCOUNT, NOW } from '../../support/generators/delivery-samples.js';
import { FakeAccounts, webhookOf } from '../../support/scenes/fake-accounts.js';

const HOUR = 3_600_000;
const secretText = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [OLD, NEW] = [secretText(2), secretText(3)];

const sealing = createSealing([masterKey(Buffer.alloc(32, 7))], (size) => Buffer.alloc(size, 1));
const elsewhere = createSealing([masterKey(Buffer.alloc(32, 8))], (size) => Buffer.alloc(size, 1));
const sealedSecret = (text: string, by = sealing) => by.seal(text, signingSecretPlace(ACCOUNT));

let accounts: FakeAccounts;
let now: number;
beforeEach(() => {
  accounts = new FakeAccounts();
  now = NOW;
});

function configuration(over: Accounts = accounts) {
  return createDeliverySecrets(over, sealing, () => now);
}

function issue(text: string, at: number): void {
  accounts.secrets.push({ sealed: sealedSecret(text), issuedAt: new Date(at).toISOString() });
}

/** Those of the secrets that a receiver may verify with, in the order of their signatures. */
async function signing(): Promise<string[]> {
  const secrets = await configuration().secrets(ACCOUNT);
  const timestamp = Math.floor(Date.now() / 1000);
  const body = Buffer.from('{}');
  const signatures = signatureOf({ id: 'msg_1', timestamp, body, secrets }).split(' ');
  return signatures.map((signature) => [OLD, NEW].find((secret) => verifies(secret, signature)) ?? 'nobody');

  function verifies(secret: string, signature: string): boolean {
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
    try {
      new StandardWebhook(secret).verify(body.toString(), headers);
      return true;
    } catch {
      return false;
    }
  }
}

describe('signing secrets', () => {
  test('one alone signs, however old it is', async () => {
    issue(OLD, NOW - 10_000 * HOUR);
    expect(await signing()).toEqual([OLD]);
  });

  test.each([
    ['at once', 0, [NEW, OLD]],
    ['1 ms before 24 h', 24 * HOUR - 1, [NEW, OLD]],
    ['at 24 h', 24 * HOUR, [NEW]],
    ['a year later', 365 * 24 * HOUR, [NEW]],
  ])('a replaced one signs beside the new one, newest first, for 24 h: %s', async (_, later, expected) => {
    issue(OLD, NOW - 1_000 * HOUR);
    issue(NEW, NOW);
    now = NOW + later;
    expect(await signing()).toEqual(expected);
  });

  test('that nobody knows let nothing go out unsigned: there is nothing to send with', async () => {
    await expect(configuration().secrets(ACCOUNT)).rejects.toThrow('no signing secret of account 42 is known yet');
  });

  test('of which one can not be opened let nothing go out', async () => {
    issue(OLD, NOW);
    accounts.secrets.push({ sealed: sealedSecret(NEW, elsewhere), issuedAt: new Date(NOW).toISOString() });
    await expect(configuration().secrets(ACCOUNT)).rejects.toThrow(CannotOpen);
  });

  test("another account's sealed secret does not open", async () => {
    issue(OLD, NOW);
    const opened = configuration();
    await expect(opened.secrets(43)).rejects.toThrow(CannotOpen);
  });
});

describe('headers', () => {
  const sealed = (key: string, value: string, accountId = ACCOUNT) => ({
    key,
    sealed: sealing.seal(value, headerPlace(accountId, key)),
  });

  test('are opened, with their names as they were given and in order', () => {
    const headers = [sealed('X-B', 'two'), sealed('x-a', ''), sealed('Authorization', 'Bearer ü')];
    expect(configuration().headers(ACCOUNT, webhookOf(1, { headers }))).toEqual([
      { key: 'X-B', value: 'two' },
      { key: 'x-a', value: '' },
      { key: 'Authorization', value: 'Bearer ü' },
    ]);
  });

  test("another account's, or another name's, do not open", () => {
    const foreign = webhookOf(1, { headers: [sealed('X-A', 'value', 43)] });
    expect(() => configuration().headers(ACCOUNT, foreign)).toThrow(CannotOpen);
    const renamed = webhookOf(1, { headers: [{ ...sealed('X-A', 'value'), key: 'X-B' }] });
    expect(() => configuration().headers(ACCOUNT, renamed)).toThrow(CannotOpen);
  });
});

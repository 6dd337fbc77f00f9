import { randomBytes } from 'node:crypto';
import { newCredential, newSigningSecret, ownerOf, secretMatches } from '../../src/accounts/client-credentials.js';

const ID = '0123456789abcdef';

describe('a client id', () => {
  it.each([
    ['acct_1_', 1],
    ['acct_42_', 42],
    ['acct_9007199254740991_', Number.MAX_SAFE_INTEGER],
  ])('%s… names account %d', (start, accountId) => {
    expect(ownerOf(`${start}${ID}`)).toBe(accountId);
  });

  it.each(['ledger', 'A-z._', '42', 'acct_42_0123456789abcdef', 'x'.repeat(64)])('names publisher %s', (name) => {
    expect(ownerOf(`pub_${name}_${ID}`)).toBe(name);
    expect(ownerOf(newCredential(name, randomBytes).clientId)).toBe(name);
  });

  it.each([
    ...[`pub_${ID}`, `pub__${ID}`, `pub_a b_${ID}`, `pub_${'x'.repeat(65)}_${ID}`, `pub_ledger_${ID}\n`, `pub_é_${ID}`],
    ...['', ID, `42_${ID}`, `acct_${ID}`, `acct__${ID}`, `acct_0_${ID}`, `acct_042_${ID}`, `acct_-1_${ID}`],
    ...[`acct_1e3_${ID}`, `acct_1.5_${ID}`, `acct_9007199254740992_${ID}`, `acct_99999999999999999_${ID}`],
    ...[`acct_42_${ID.toUpperCase()}`, `ACCT_42_${ID}`, `acct_42_${ID}0`, `acct_42_${ID.slice(1)}`, `acct_42_`],
    ...[`acct_42_${ID}\n`, ` acct_42_${ID}`, `acct_\u0664\u0662_${ID}`, `acct_42_${ID} or 1=1`],
  ])('is not %j', (text) => {
    expect(ownerOf(text)).toBeNull();
  });
});

describe('a client secret', () => {
  const { clientSecret, secretHash } = newCredential(42, randomBytes);

  it('matches its hash, which is SHA-256 in hex', () => {
    expect(secretHash).toMatch(/^[0-9a-f]{64}$/);
    expect(secretMatches(clientSecret, secretHash)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['the hash', secretHash],
    ['itself cut short', clientSecret.slice(0, -1)],
    ['itself and more', `${clientSecret}=`],
    ['itself in another case', clientSecret.toUpperCase()],
    ['another one', newCredential(42, randomBytes).clientSecret],
    ['very much', 'x'.repeat(100_000)],
  ])('is not %s', (_, given) => {
    expect(secretMatches(given, secretHash)).toBe(false);
  });
});

it('ids and secrets are drawn anew each time', () => {
  const drawn = Array.from({ length: 100 }, () => newCredential(42, randomBytes));
  expect(new Set(drawn.map(({ clientId }) => clientId)).size).toBe(100);
  expect(new Set(drawn.map(({ clientSecret }) => clientSecret)).size).toBe(100);
  expect(new Set(drawn.map(() => newSigningSecret(randomBytes))).size).toBe(100);
});

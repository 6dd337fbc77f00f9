import { createHmac, generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, exportJWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { createOwnTokens, type OwnTokens } from '../../src/accounts/own-tokens.js';
import { masterKey } from '../../src/secrets/master-keys.js';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const SECONDS = START / 1000;
const CLIENT = 'acct_42_0123456789abcdef';
const KEY = masterKey(Buffer.alloc(32, 1)).derive('access-tokens');
const OTHER_KEY = masterKey(Buffer.alloc(32, 2)).derive('access-tokens');
const RULES = { issuer: 'account-webhooks', audience: 'account-webhooks' };
const CALLER = { kind: 'verified', caller: { accountId: 42, actor: CLIENT, clientId: CLIENT } };
const REFUSED = { kind: 'refused', why: expect.any(String) };

let now = START;
let tokens: OwnTokens;

const ownTokens = (changes: Partial<Parameters<typeof createOwnTokens>[0]> = {}) =>
  createOwnTokens({ ...RULES, keys: [KEY], lifetimeMs: 60_000, clock: { now: () => now }, ...changes });

beforeEach(() => {
  now = START;
  tokens = ownTokens();
});

const CLAIMS = { client_id: CLIENT, sub: '42', iss: RULES.issuer, aud: RULES.audience };
const TIMES = { iat: SECONDS, exp: SECONDS + 60 };

type Claims = Readonly<Record<string, unknown>>;

/** What the service itself would issue, but for the changes; undefined leaves a claim out. */
function signed(claims: Claims = {}, header: Partial<JWTHeaderParameters> = {}, key: Buffer = KEY): Promise<string> {
  const protectedHeader = { alg: 'HS256', typ: 'JWT', ...header };
  return new SignJWT({ ...CLAIMS, ...TIMES, ...claims }).setProtectedHeader(protectedHeader).sign(key);
}

const part = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A token by hand, an HMAC over whatever its parts are. */
function handmade(
  header: object | string,
  payload: object | string = { ...CLAIMS, ...TIMES },
  key: Buffer = KEY,
  hash = 'sha256',
): string {
  const input = `${part(header)}.${part(payload)}`;
  return `${input}.${createHmac(hash, key).update(input).digest('base64url')}`;
}

describe('a token that was issued', () => {
  it('is a JWT of the account, its credential, issuer, audience and lifetime', async () => {
    const { token, expiresInSeconds } = await tokens.issue(42, CLIENT);
    expect(expiresInSeconds).toBe(60);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'HS256' });
    expect(decodeJwt(token)).toEqual({ ...CLAIMS, ...TIMES });
  });

  it('is verified where its master key is the previous one, and not where it is none', async () => {
    const { token } = await tokens.issue(42, CLIENT);
    const changed = ownTokens({ keys: [OTHER_KEY, KEY] });
    expect(await changed.verify(token)).toEqual(CALLER);
    const anew = (await changed.issue(42, CLIENT)).token;
    expect(await changed.verify(anew)).toEqual(CALLER);
    expect(await tokens.verify(anew)).toEqual(REFUSED);
    now += 60_000;
    expect(await changed.verify(token)).toEqual(REFUSED);
  });

  it('is verified, by another process of the same master key too', async () => {
    const { token } = await tokens.issue(42, CLIENT);
    expect(await tokens.verify(token)).toEqual(CALLER);
    expect(await ownTokens().verify(token)).toEqual(CALLER);
    expect(await tokens.verify(await signed())).toEqual(CALLER);
    expect(await tokens.verify(handmade({ alg: 'HS256' }))).toEqual(CALLER);
  });

  it.each(['by a process that never saw it', 'by the one that verified it before'])(
    'ends on the second, without tolerance: %s',
    async (which) => {
      const { token } = await tokens.issue(42, CLIENT);
      const verify = async (at: number) => {
        now = START + at;
        return (which.includes('never') ? ownTokens() : tokens).verify(token);
      };
      expect(await verify(0)).toEqual(CALLER);
      expect(await verify(59_999)).toEqual(CALLER);
      expect(await verify(60_000)).toEqual(REFUSED);
      expect(await verify(61_000)).toEqual(REFUSED);
    },
  );

  it('is refused after one character of it was changed, wherever that is', async () => {
    const { token } = await tokens.issue(42, CLIENT);
    for (let index = 0; index < token.length; index += 1) {
      const changed = token[index] === 'A' ? 'B' : 'A';
      expect(await tokens.verify(token.slice(0, index) + changed + token.slice(index + 1))).toEqual(REFUSED);
    }
  });
});

describe('a token of the right key is refused for its claims, and the reason is told:', () => {
  const [iss, aud] = ['the issuer (iss) is not account-webhooks', 'the audience (aud) is not account-webhooks'];
  const sub = "the claim sub must be an account's number, or its decimal string";
  const client = 'the claim client_id must be a string';

  it.each<[string, Claims, why: string]>([
    ['another issuer', { iss: 'somebody' }, iss],
    ['no issuer', { iss: undefined }, 'the claim iss is missing'],
    ['another audience', { aud: 'somebody' }, aud],
    ['no audience', { aud: undefined }, 'the claim aud is missing'],
    ['expired just now', { exp: SECONDS }, 'the token has expired (exp)'],
    ['no exp', { exp: undefined }, 'the claim exp is missing'],
    ['exp as text', { exp: String(SECONDS + 60) }, 'the claim exp must be a number'],
    ['not valid yet', { nbf: SECONDS + 1 }, 'the token is not valid yet (nbf)'],
    ['no iat', { iat: undefined }, 'the claim iat is missing'],
    ['no sub', { sub: undefined }, 'the claim sub is missing'],
    ['a sub that is no account', { sub: 'admin' }, sub],
    ['no client', { client_id: undefined }, client],
  ])('%s', async (_, claims, why) => {
    expect(await tokens.verify(await signed(claims))).toEqual({ kind: 'refused', why });
  });
});

describe('a token is refused for its header or its key:', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const claims = { ...CLAIMS, ...TIMES };

  it.each<[string, () => Promise<string> | string]>([
    ['the key of another master key', () => signed({}, {}, OTHER_KEY)],
    ['alg none, without signature', () => `${part({ alg: 'none' })}.${part(claims)}.`],
    ['alg RS256 by name, signed with the key', () => handmade({ alg: 'RS256' })],
    ['alg RS256', () => new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(rsa.privateKey)],
    ['alg HS512, with the right key', () => handmade({ alg: 'HS512' }, claims, KEY, 'sha512')],
    ['its own key in jwk', async () => signed({}, { jwk: await exportJWK(OTHER_KEY) }, OTHER_KEY)],
    ['crit that is not known', () => handmade({ alg: 'HS256', crit: ['x'], x: 1 })],
    ['a header that is not JSON', () => handmade('{')],
    ['encryption', () => [part({ alg: 'dir', enc: 'A256GCM' }), '', 'AAAA', 'AAAA', 'AAAA'].join('.')],
  ])('%s', async (_, token) => {
    expect(await tokens.verify(await token())).toEqual(REFUSED);
  });
});

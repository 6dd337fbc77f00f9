import { createHmac, createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPair, type JWK, SignJWT } from 'jose';
import { createIssuerTokens, type IssuerOptions, type VerifyToken } from '../../src/accounts/access-tokens.js';
import { ISSUER_ALGORITHMS, type Issuer, startIssuer } from '../support/issuer.js';
import { type RecordingLogger, recordingLogger } from '../support/recording-logger.js';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const SECONDS = START / 1000;
const CLAIMS = { iss: 'https://issuer', aud: 'webhooks', sub: '42', iat: SECONDS, exp: SECONDS + 60 };
const CALLER = { accountId: 42, actor: '42', clientId: null };

let issuer: Issuer;
let logger: RecordingLogger;
let now = START;
let verify: VerifyToken;

beforeAll(async () => {
  issuer = await startIssuer();
});

afterAll(() => issuer.close());

beforeEach(() => {
  now = START;
  logger = recordingLogger();
  verify = issuerTokens();
});

function issuerTokens(changes: Partial<IssuerOptions> = {}): VerifyToken {
  const rules = { issuer: CLAIMS.iss, audience: CLAIMS.aud, accountClaim: 'sub' };
  return createIssuerTokens({ ...rules, jwksUrl: issuer.jwksUrl, clock: { now: () => now }, logger, ...changes });
}

const signed = (claims: object = {}, header: Parameters<Issuer['sign']>[1] = {}) =>
  issuer.sign({ ...CLAIMS, ...claims }, header);

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function hmac(header: object, key: Buffer | string): string {
  const input = `${part(header)}.${part(CLAIMS)}`;
  return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
}

describe('a token of the issuer', () => {
  it.each(ISSUER_ALGORITHMS)('is taken, signed by %s', async (alg) => {
    expect(await verify(await signed({}, { alg }))).toEqual(CALLER);
    expect(await verify(await signed({}, { alg, kid: null }))).toEqual(CALLER);
    expect(logger.warnings).toEqual([]);
  });

  it('may be for several audiences, and is for one of them at least', async () => {
    expect(await verify(await signed({ aud: ['other', CLAIMS.aud] }))).toEqual(CALLER);
    expect(await verify(await signed({ aud: ['other'] }))).toBeNull();
  });

  it.each(['by a process that never saw it', 'by the one that verified it before'])(
    'ends on the second, without tolerance: %s',
    async (which) => {
      const token = await signed();
      const at = async (ms: number) => {
        now = START + ms;
        return (which.includes('never') ? issuerTokens() : verify)(token);
      };
      expect(await at(59_999)).toEqual(CALLER);
      expect(await at(60_000)).toBeNull();
    },
  );

  it('is refused after one character of its signature was changed', async () => {
    for (const alg of ISSUER_ALGORITHMS) {
      const token = await signed({}, { alg });
      const tail = token.slice(0, -1);
      const others = [...'ABCDEFGHQRSTgwxyz0189-_'].map((character) => tail + character);
      for (const other of others.filter((text) => text !== token)) expect(await verify(other)).toBeNull();
    }
  });
});

describe('the account claim', () => {
  it.each<[unknown, number]>([
    [42, 42],
    ['42', 42],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
  ])('%j is account %d', async (account, accountId) => {
    const { verifyClaim } = withClaim();
    expect(await verifyClaim(account)).toEqual({ accountId, actor: 'a subject', clientId: null });
  });

  it.each([
    ...[
      '042',
      '+42',
      '42.0',
      '1e3',
      '0x2a',
      ' 42',
      '42 ',
      '4 2',
      '',
      'abc',
      '42abc',
      'NaN',
      'Infinity',
      '\u0664\u0662',
    ],
    ...['9007199254740992', '99999999999999999999', '1e400', 9007199254740992, 1e300, 42.5, true, null],
    ...[[42], ['42'], { id: 42 }, [], {}],
  ])('%j is none', async (account) => {
    const { verifyClaim } = withClaim();
    expect(await verifyClaim(account)).toBeNull();
  });

  it('that is missing is none, and none is found in what every object has', async () => {
    expect(await issuerTokens({ accountClaim: 'account' })(await signed())).toBeNull();
    expect(await issuerTokens({ accountClaim: 'constructor' })(await signed())).toBeNull();
    expect(await issuerTokens({ accountClaim: 'toString' })(await signed())).toBeNull();
  });

  /** An integer that no account has is no matter of the token: the answer is 404, later. */
  it.each([0, -5])('%d is an integer, of an account that nobody can register', async (account) => {
    const { verifyClaim } = withClaim();
    expect(await verifyClaim(account)).toMatchObject({ accountId: account });
  });

  function withClaim() {
    const verifyIt = issuerTokens({ accountClaim: 'https://issuer/account' });
    const verifyClaim = async (account: unknown) =>
      verifyIt(await signed({ sub: 'a subject', 'https://issuer/account': account }));
    return { verifyClaim };
  }
});

describe('refused for its claims:', () => {
  it.each<[string, object]>([
    ['another issuer', { iss: 'https://issuer/' }],
    ['no issuer', { iss: undefined }],
    ['another audience', { aud: 'other' }],
    ['no audience', { aud: undefined }],
    ['expired a second ago', { exp: SECONDS - 1 }],
    ['expired just now', { exp: SECONDS }],
    ['no exp', { exp: undefined }],
    ['exp as text', { exp: String(SECONDS + 60) }],
    ['not valid yet', { nbf: SECONDS + 1 }],
    ['no iat', { iat: undefined }],
    ['no sub', { sub: undefined }],
  ])('%s', async (_, claims) => {
    expect(await verify(await signed(claims))).toBeNull();
  });
});

describe('refused for its header or its key:', () => {
  const pem = (jwk: JWK) =>
    createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const rsa = () => issuer.publicKeys[0] as JWK;

  it.each<[string, () => Promise<string> | string]>([
    ['HS256, the public key in PEM being the secret', () => hmac({ alg: 'HS256', kid: 'RS256' }, pem(rsa()))],
    ['HS256, the modulus being the secret', () => hmac({ alg: 'HS256', kid: 'RS256' }, rsa().n ?? '')],
    ['HS256 that says RS256', () => hmac({ alg: 'RS256', kid: 'RS256' }, pem(rsa()))],
    ['alg none', () => `${part({ alg: 'none', kid: 'RS256' })}.${part(CLAIMS)}.`],
    ['a kid the issuer does not have', () => signed({}, { kid: 'unknown' })],
    ['a kid of another algorithm', () => signed({}, { kid: 'ES256' })],
    ['a kid that is a path', () => signed({}, { kid: '../../../../dev/null' })],
    ['crit that is not known', () => signed({}, { crit: ['x'], x: 1 })],
    ['another key, with the issuer’s kid', () => stranger('RS256', { kid: 'RS256' })],
    ['another key, embedded in jwk', () => stranger('ES256', { kid: 'ES256', jwk: issuer.publicKeys[1] })],
    ['another key, at a jku of its own', () => stranger('RS256', { jku: `${issuer.jwksUrl}?evil` })],
    ['RS512, which is not among the three', () => signed({}, { alg: 'RS512', kid: 'RS256' })],
    ['PS256, which is not among the three', () => signed({}, { alg: 'PS256', kid: 'RS256' })],
  ])('%s', async (_, token) => {
    expect(await verify(await token())).toBeNull();
  });

  async function stranger(alg: string, header: object): Promise<string> {
    const { privateKey } = await generateKeyPair(alg);
    return new SignJWT(CLAIMS).setProtectedHeader({ alg, ...header }).sign(privateKey);
  }
});

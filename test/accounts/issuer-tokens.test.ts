import { createHmac, createPublicKey } from 'node:crypto';
import { generateKeyPair, type JWK, SignJWT } from 'jose';
import type { VerifyToken } from '../../src/accounts/access-tokens.js';
import { IssuerKeys } from '../../src/accounts/issuer-keys.js';
import { createIssuerTokens, type IssuerOptions } from '../../src/accounts/issuer-tokens.js';
import { type RecordingLogger, recordingLogger } from '../support/scenes/recording-logger.js';
import { ISSUER_ALGORITHMS, type Issuer, startIssuer } from '../support/servers/issuer.js';

const START = Date.parse('2026-11-21T10:00:00.000Z');
const SECONDS = START / 1000;
const TOLERANCE_MS = 30_000;
const CLAIMS = { iss: 'https://issuer', aud: 'webhooks', sub: '42', iat: SECONDS, exp: SECONDS + 60 };
const CALLER = { kind: 'verified', caller: { accountId: 42, actor: '42', clientId: null } };
const REFUSED = { kind: 'refused', why: expect.any(String) };

let issuer: Issuer;
let logger: RecordingLogger;
let keys: IssuerKeys;
let now = START;
let verify: VerifyToken;

beforeAll(async () => {
  issuer = await startIssuer();
});

afterAll(() => issuer.close());

afterEach(() => keys.close());

beforeEach(() => {
  now = START;
  logger = recordingLogger();
  keys = new IssuerKeys({ url: issuer.jwksUrl, logger, now: () => now });
  verify = issuerTokens();
});

function issuerTokens(changes: Partial<IssuerOptions> = {}): VerifyToken {
  const rules = {
    issuer: CLAIMS.iss,
    audience: CLAIMS.aud,
    accountClaim: 'sub',
    clockToleranceMs: TOLERANCE_MS,
    publisherScope: 'payment-events:publish',
  };
  return createIssuerTokens({ ...rules, clock: { now: () => now }, keys, ...changes });
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
    expect(await verify(await signed({ aud: ['other'] }))).toEqual(REFUSED);
  });

  it.each(['by a process that never saw it', 'by the one that verified it before'])(
    'ends on the second, once the tolerance is over: %s',
    async (which) => {
      const token = await signed();
      const at = async (ms: number) => {
        now = START + ms;
        return (which.includes('never') ? issuerTokens() : verify)(token);
      };
      expect(await at(89_999)).toEqual(CALLER);
      expect(await at(90_000)).toEqual({ kind: 'refused', why: 'the token has expired (exp)' });
    },
  );

  it.each([
    ['nbf', 'the token is not valid yet (nbf)'],
    ['iat', 'the token was issued in the future (iat)'],
  ])('may be ahead of this clock, by the tolerance: %s', async (claim, why) => {
    expect(await verify(await signed({ [claim]: SECONDS + 30 }))).toEqual(CALLER);
    expect(await verify(await signed({ [claim]: SECONDS + 31 }))).toEqual({ kind: 'refused', why });
    expect(await issuerTokens({ clockToleranceMs: 0 })(await signed({ [claim]: SECONDS }))).toEqual(CALLER);
    expect(await issuerTokens({ clockToleranceMs: 0 })(await signed({ [claim]: SECONDS + 1 }))).toMatchObject({ why });
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
    expect(await verifyClaim(account)).toEqual({
      kind: 'verified',
      caller: { accountId, actor: 'a subject', clientId: null },
    });
  });

  it.each([
    ...['042', '+42', '42.0', '1e3', ' 42', '', 'NaN', '\u0664\u0662', '9007199254740992', 42.5, true, null],
    ...[[42], ['42'], { id: 42 }, [], {}],
  ])('%j is none', async (account) => {
    const { verifyClaim } = withClaim();
    expect(await verifyClaim(account)).toEqual(REFUSED);
  });

  it('that is missing is none, and none is found in what every object has', async () => {
    expect(await issuerTokens({ accountClaim: 'account' })(await signed())).toEqual(REFUSED);
    expect(await issuerTokens({ accountClaim: 'constructor' })(await signed())).toEqual(REFUSED);
    expect(await issuerTokens({ accountClaim: 'toString' })(await signed())).toEqual(REFUSED);
  });

  function withClaim() {
    const verifyIt = issuerTokens({ accountClaim: 'https://issuer/account' });
    const verifyClaim = async (account: unknown) =>
      verifyIt(await signed({ sub: 'a subject', 'https://issuer/account': account }));
    return { verifyClaim };
  }
});

describe('a token is refused for its claims, and the reason is told:', () => {
  const [iss, aud] = ['the issuer (iss) is not https://issuer', 'the audience (aud) is not webhooks'];

  it.each<[string, object, why: string]>([
    ['another issuer', { iss: 'https://issuer/' }, iss],
    ['another audience', { aud: 'other' }, aud],
    ['expired beyond the tolerance', { exp: SECONDS - 30 }, 'the token has expired (exp)'],
    ['not valid yet', { nbf: SECONDS + 31 }, 'the token is not valid yet (nbf)'],
    ['no sub', { sub: undefined }, 'the claim sub is missing'],
  ])('%s', async (_, claims, why) => {
    expect(await verify(await signed(claims))).toEqual({ kind: 'refused', why });
  });
});

describe('a token is refused for its header or its key:', () => {
  const pem = (jwk: JWK) =>
    createPublicKey({ key: jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
  const rsa = () => issuer.publicKeys[0] as JWK;

  const algorithm = 'the algorithm (alg) is not one of RS256, PS256, ES256, EdDSA';
  const noKey = "the issuer has no key that matches the token's header (alg, kid)";
  const signature = 'the signature is not valid';

  it.each<[string, () => Promise<string> | string, why: string]>([
    [
      'HS256, the public key in PEM being the secret',
      () => hmac({ alg: 'HS256', kid: 'RS256' }, pem(rsa())),
      algorithm,
    ],
    ['HS256 that says RS256', () => hmac({ alg: 'RS256', kid: 'RS256' }, pem(rsa())), signature],
    ['alg none', () => `${part({ alg: 'none', kid: 'RS256' })}.${part(CLAIMS)}.`, algorithm],
    ['a kid the issuer does not have', () => signed({}, { kid: 'unknown' }), noKey],
    ['a kid of another algorithm', () => signed({}, { kid: 'ES256' }), noKey],
    ['crit that is not known', () => signed({}, { crit: ['x'], x: 1 }), 'the token could not be verified'],
    ['another key, with the issuer’s kid', () => stranger('RS256', { kid: 'RS256' }), signature],
    ['another key, embedded in jwk', () => stranger('ES256', { kid: 'ES256', jwk: issuer.publicKeys[1] }), signature],
    ['RS512, which is not among the four', () => signed({}, { alg: 'RS512', kid: 'RS256' }), algorithm],
    ['no JWT', () => 'nonsense', 'the token is not a JWT'],
  ])('%s', async (_, token, why) => {
    expect(await verify(await token())).toEqual({ kind: 'refused', why });
  });

  async function stranger(alg: string, header: object): Promise<string> {
    const { privateKey } = await generateKeyPair(alg);
    return new SignJWT(CLAIMS).setProtectedHeader({ alg, ...header }).sign(privateKey);
  }
});

import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { JWK } from 'jose';
import { KeysUnavailable, type VerifyToken } from '../../src/accounts/access-tokens.js';
import { IssuerKeys, type KeyPace } from '../../src/accounts/issuer-keys.js';
import { createIssuerTokens } from '../../src/accounts/issuer-tokens.js';
import { eventually } from '../support/clocks/eventually.js';
import { type RecordingLogger, recordingLogger } from '../support/scenes/recording-logger.js';
import { type Answer, ISSUER_ALGORITHMS, type Issuer, newPairs, startIssuer } from '../support/servers/issuer.js';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const SECONDS = NOW / 1000;
const CLAIMS = { iss: 'https://issuer', aud: 'webhooks', sub: '42', iat: SECONDS, exp: SECONDS + 60 };
const CALLER = { kind: 'verified', caller: { accountId: 42, actor: '42', clientId: null } };
const NO_KEY = { kind: 'refused', why: "the issuer has no key that matches the token's header (alg, kid)" };
/** The timer does nothing within a test. */
const BY_HAND = { refreshMs: 3_600_000, retryMs: 3_600_000 };
const BAD_SIGNATURE = { kind: 'refused', why: 'the signature is not valid' };
const AWAY: [string, Answer, why: string][] = [
  ['a failure', { status: 500, body: '{}' }, 'the response has status 500'],
  ['a redirect', { status: 302, body: '' }, 'the response has status 302'],
  ['no JSON', { status: 200, body: '<html>' }, 'the response is not JSON'],
  ['no keys', { status: 200, body: '{"keys":[]}' }, 'the JWK set has no usable keys'],
  ['only malformed keys', { status: 200, body: '{"keys":[null,{}]}' }, 'the JWK set has no usable keys'],
  ['no list of keys', { status: 200, body: '{"keys":{}}' }, 'the response is not a JWK set'],
  ['null', { status: 200, body: 'null' }, 'the response is not a JWK set'],
  ['more than 100 keys', keySetOf(101), 'the JWK set has more than 100 keys'],
  [
    'more than 256 KiB',
    { status: 200, body: `{"keys":[]}${' '.repeat(262_134)}` },
    'the response has more than 262144 bytes',
  ],
  [
    'more than 256 KiB after decompression',
    { status: 200, body: gzipSync(Buffer.alloc(64 * 1024 ** 2, ' ')), encoding: 'gzip' },
    'the response has more than 262144 bytes',
  ],
];

const MALFORMED: [string, (intact: JWK) => object | null][] = [
  ['null', () => null],
  ['RSA without a modulus', () => ({ kty: 'RSA' })],
  ['a modulus that is not text', (intact) => ({ ...intact, n: 5 })],
  ['a modulus that is not base64', (intact) => ({ ...intact, n: '!!' })],
  ['an unknown operation', (intact) => ({ ...intact, key_ops: ['verify', 'unknown'] })],
  ['RSA of 1,024 bits', () => generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' })],
  ['a private key', () => pairs.RS256.privateKey.export({ format: 'jwk' })],
  ['a symmetric key', () => ({ kty: 'oct', k: 'AAAA' })],
  ['an unknown kty', () => ({ kty: 'X' })],
];

const strangers = (count: number) => Array.from({ length: count }, stranger);

function keySetOf(count: number): Answer {
  const keys = Array.from({ length: count }, (_, n) => ({ kty: 'oct', k: 'AAAA', kid: String(n) }));
  return { status: 200, body: JSON.stringify({ keys }) };
}

const otherRsa = () => newPairs().RS256.publicKey.export({ format: 'jwk' }) as JWK;
const stranger = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });

let issuer: Issuer;
let logger: RecordingLogger;
let keys: IssuerKeys;
let now = 0;
let verify: VerifyToken;

const pairs = newPairs();

beforeEach(async () => {
  issuer = await startIssuer({ pairs });
  logger = recordingLogger();
  now = 0;
  keys = open(BY_HAND);
});

afterEach(async () => {
  await keys.close();
  await issuer.close();
});

function open(pace: Partial<KeyPace>): IssuerKeys {
  const opened = new IssuerKeys({ url: issuer.jwksUrl, logger, now: () => now, pace });
  const rules = {
    issuer: CLAIMS.iss,
    audience: CLAIMS.aud,
    accountClaim: 'sub',
    clockToleranceMs: 0,
    publisherScope: 'payment-events:publish',
  };
  verify = createIssuerTokens({ ...rules, clock: { now: () => NOW }, keys: opened });
  return opened;
}

async function reopen(pace: Partial<KeyPace>): Promise<void> {
  await keys.close();
  keys = open(pace);
}

type KeyList = readonly (object | null | undefined)[];

const publish = (set: KeyList) => issuer.answerWith({ status: 200, body: JSON.stringify({ keys: set }) });

async function answerWithKeys(set: KeyList): Promise<void> {
  publish(set);
  await reopen(BY_HAND);
}

const signed = (claims: object = {}, header: Parameters<Issuer['sign']>[1] = {}) =>
  issuer.sign({ ...CLAIMS, ...claims }, header);
const withKid = (kid: string) => signed({}, { kid });
const REFUSED = 'nothing listens at an address of the issuer (ECONNREFUSED): see AUTH_JWKS_URL';
const said = (why: string) => `the issuer's keys (AUTH_JWKS_URL) can't be fetched: ${why}`;

describe('while the issuer answers, its keys', () => {
  it('are asked for once, and a token that was verified is not verified again', async () => {
    const token = await signed();
    const [first, second] = [await verify(token), await verify(token)];
    expect(second).toBe(first);
    for (const alg of ISSUER_ALGORITHMS) expect(await verify(await signed({}, { alg }))).toEqual(CALLER);
    expect({ asked: issuer.asked(), whyNot: keys.whyNot }).toEqual({ asked: 1, whyNot: null });
  });

  it('are asked for by an unknown kid, and not by each token of one', async () => {
    expect(await verify(await signed())).toEqual(CALLER);
    const askedBy = async (count: number) => {
      const before = issuer.asked();
      for (let index = 0; index < count; index += 1) expect(await verify(await withKid(`k${index}`))).toEqual(NO_KEY);
      return issuer.asked() - before;
    };
    expect(await askedBy(20)).toBe(1);
    now = 9_999;
    expect(await askedBy(20)).toBe(0);
    now = 10_000;
    expect(await askedBy(20)).toBe(1);
  });

  it('are asked for at a pace, without any request', async () => {
    await reopen({ refreshMs: 1 });
    keys.start();
    await eventually(() => issuer.asked() >= 3);
    expect(logger.warnings).toEqual([]);
  });

  it('are each tried if several match: the set has the kid twice, or the token has none', async () => {
    const [, own] = issuer.publicKeys;
    for (const set of [
      [own, stranger()],
      [stranger(), own],
      [...strangers(9), own],
    ]) {
      await answerWithKeys(set.map((key) => ({ ...key, kid: 'same' })));
      expect(await verify(await signed({}, { alg: 'ES256', kid: 'same' }))).toEqual(CALLER);
      expect(await verify(await signed({}, { alg: 'ES256', kid: null }))).toEqual(CALLER);
    }
  });

  it('are tried up to ten times for a token, whose signature then is not valid', async () => {
    const [, own] = issuer.publicKeys;
    for (const set of [strangers(2), [...strangers(10), own]]) {
      await answerWithKeys(set.map((key) => ({ ...key, kid: 'same' })));
      for (const kid of ['same', null])
        expect(await verify(await signed({}, { alg: 'ES256', kid }))).toEqual(BAD_SIGNATURE);
    }
  });

  it.each<[string, string | null, JWK[]]>([
    ['under the same kid', 'RS256', []],
    ['for a token without a kid', null, []],
    ['for a token without a kid while the issuer has two keys', null, [otherRsa()]],
  ])('are fetched again if one was replaced %s, at most once in 10 s', async (_, kid, others) => {
    const token = (jti: string) => signed({ jti }, { kid });
    const publishWith = (key: JWK | undefined) => publish([{ ...key, kid: 'RS256' }, ...others]);
    publishWith(otherRsa());
    expect([await verify(await token('1')), await verify(await token('2'))]).toEqual([BAD_SIGNATURE, BAD_SIGNATURE]);
    expect(issuer.asked()).toBe(2);
    publishWith(issuer.publicKeys[0]);
    now = 9_999;
    expect(await verify(await token('3'))).toEqual(BAD_SIGNATURE);
    expect(issuer.asked()).toBe(2);
    now = 10_000;
    expect(await verify(await token('4'))).toEqual(CALLER);
    expect(issuer.asked()).toBe(3);
  });

  it.each(MALFORMED)('match no token if they are malformed (%s)', async (_, malformed) => {
    const broken = malformed(issuer.publicKeys[0] ?? {});
    await answerWithKeys([broken && { ...broken, kid: 'broken' }, ...issuer.publicKeys]);
    expect(await verify(await withKid('broken'))).toEqual(NO_KEY);
    expect(await verify(await signed())).toEqual(CALLER);
    expect(await verify(await signed({}, { kid: null }))).toEqual(CALLER);
    await answerWithKeys([broken && { ...broken, kid: 'RS256' }, ...issuer.publicKeys]);
    expect(await verify(await signed())).toEqual(CALLER);
  });
});

describe('an issuer that is away from the start', () => {
  it.each(AWAY)('(%s): no token is judged, and one line is logged', async (_, answer, why) => {
    issuer.answerWith(answer);
    expect(keys.whyNot).toBe("the issuer's keys are being fetched for the first time");
    for (const jti of ['1', '2', '3']) await expect(verify(await signed({ jti }))).rejects.toThrow(KeysUnavailable);
    expect({ whyNot: keys.whyNot, inHand: keys.areInHand }).toEqual({ whyNot: said(why), inHand: false });
    expect(logger.warnings).toEqual([[{ why }, expect.stringContaining('requests get 503')]]);
    expect(issuer.asked()).toBe(1);
  });

  it('(it hangs): who asks first waits as long as it may take, the others not at all', async () => {
    issuer.answerWith('silence');
    await reopen({ ...BY_HAND, answerWithinMs: 50 });
    await expect(verify(await signed())).rejects.toThrow(KeysUnavailable);
    expect(keys.whyNot).toBe(said('no answer within 50 ms'));
    await reopen({ retryMs: 1, answerWithinMs: 3_600_000 });
    issuer.answerWith({ status: 500, body: '' });
    keys.start();
    await eventually(() => keys.whyNot === said('the response has status 500'));
    issuer.answerWith('silence');
    const before = issuer.asked();
    await eventually(() => issuer.asked() > before);
    await expect(verify(await signed())).rejects.toThrow(KeysUnavailable);
  });
});

describe('an issuer that goes away', () => {
  it.each([
    ['without a kid', null],
    ['with the kid of a known key', 'same'],
  ])('leaves a token %s unjudged if no known key verifies it', async (_, kid) => {
    await answerWithKeys([{ ...stranger(), kid: 'same' }]);
    expect(await verify(await signed({}, { alg: 'ES256', kid: 'x' }))).toEqual(NO_KEY);
    now = 10_000;
    issuer.answerWith({ status: 500, body: '' });
    await expect(verify(await signed({}, { alg: 'ES256', kid }))).rejects.toThrow(KeysUnavailable);
  });

  it.each(AWAY)('(%s): keys in hand go on, and a kid that is not known is not judged', async (_, answer, why) => {
    expect(await verify(await signed())).toEqual(CALLER);
    issuer.answerWith(answer);
    for (const kid of ['1', '2', '3']) await expect(verify(await withKid(kid))).rejects.toThrow(KeysUnavailable);
    now = 365 * 24 * 3_600_000;
    for (const alg of ISSUER_ALGORITHMS) expect(await verify(await signed({ jti: alg }, { alg }))).toEqual(CALLER);
    expect({ whyNot: keys.whyNot, inHand: keys.areInHand }).toEqual({ whyNot: said(why), inHand: true });
    expect(logger.warnings).toEqual([[{ why }, expect.stringContaining('the known keys stay in use')]]);
    expect(issuer.asked()).toBe(2);
  });

  it('(its port closes) and comes back with a new key: one line for each, and the key is known', async () => {
    await reopen({ refreshMs: 1, retryMs: 1 });
    keys.start();
    await eventually(() => keys.areInHand);
    await issuer.close();
    await eventually(() => keys.whyNot === said(REFUSED));
    expect(await verify(await signed())).toEqual(CALLER);
    await expect(verify(await withKid('new'))).rejects.toThrow(KeysUnavailable);
    issuer = await startIssuer(issuer.place);
    const [rsa] = issuer.publicKeys;
    issuer.answerWith({ status: 200, body: JSON.stringify({ keys: [{ ...rsa, kid: 'new' }] }) });
    const taken = async () => (await verify(await withKid('new')).catch(() => null))?.kind === 'verified';
    await eventually(taken);
    expect({ warnings: logger.warnings.length, infos: logger.infos.length }).toEqual({ warnings: 1, infos: 1 });
  });
});

describe('after a failed fetch', () => {
  it('the keys are fetched again in 10 s, and Retry-After counts down to that', async () => {
    issuer.answerWith({ status: 500, body: '' });
    await reopen({});
    const token = await signed();
    const retryAfterOf = (at: number) => {
      now = at;
      return verify(token).catch((error: KeysUnavailable) => error.retryAfterSeconds);
    };
    expect([await retryAfterOf(0), await retryAfterOf(6_500), await retryAfterOf(9_999)]).toEqual([10, 4, 1]);
    expect(issuer.asked()).toBe(1);
  });
});

it('ends while an issuer hangs', async () => {
  issuer.answerWith('silence');
  keys.start();
  await eventually(() => issuer.asked() === 1);
  await keys.close();
  expect(logger.warnings).toEqual([]);
});

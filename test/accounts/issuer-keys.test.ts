import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createIssuerTokens, type IssuerOptions, type VerifyToken } from '../../src/accounts/access-tokens.js';
import { ISSUER_ALGORITHMS, type Issuer, startIssuer } from '../support/issuer.js';
import { type RecordingLogger, recordingLogger } from '../support/recording-logger.js';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const SECONDS = NOW / 1000;
const CLAIMS = { iss: 'https://issuer', aud: 'webhooks', sub: '42', iat: SECONDS, exp: SECONDS + 60 };
const CALLER = { accountId: 42, actor: '42', clientId: null };

let issuer: Issuer;
let logger: RecordingLogger;
let verify: VerifyToken;

beforeAll(async () => {
  issuer = await startIssuer();
});

afterAll(() => issuer.close());

beforeEach(() => {
  issuer.answerWith('keys');
  logger = recordingLogger();
  verify = issuerTokens();
});

function issuerTokens(changes: Partial<IssuerOptions> = {}): VerifyToken {
  const rules = { issuer: CLAIMS.iss, audience: CLAIMS.aud, accountClaim: 'sub' };
  return createIssuerTokens({ ...rules, jwksUrl: issuer.jwksUrl, clock: { now: () => NOW }, logger, ...changes });
}

const signed = (claims: object = {}, header: Parameters<Issuer['sign']>[1] = {}) =>
  issuer.sign({ ...CLAIMS, ...claims }, header);

describe('the keys', () => {
  it('are asked for once, and a token that was verified is not verified again', async () => {
    const before = issuer.asked();
    const token = await signed();
    const [first, second] = [await verify(token), await verify(token)];
    expect(second).toBe(first);
    for (const alg of ISSUER_ALGORITHMS) expect(await verify(await signed({}, { alg }))).toEqual(CALLER);
    expect(issuer.asked()).toBe(before + 1);
  });

  it('are not asked for by each token of an unknown kid', async () => {
    expect(await verify(await signed())).toEqual(CALLER);
    const before = issuer.asked();
    for (let index = 0; index < 20; index += 1) expect(await verify(await signed({}, { kid: `k${index}` }))).toBeNull();
    expect(issuer.asked() - before).toBeLessThanOrEqual(1);
  });

  it('are never looked for where a token says', async () => {
    const before = issuer.asked();
    expect(await verify(await signed({}, { alg: 'RS256', jku: `${issuer.jwksUrl}?jku`, x5u: issuer.jwksUrl }))).toEqual(
      CALLER,
    );
    expect(issuer.asked()).toBe(before + 1);
  });

  it.each<[string, { status: number; body: string }]>([
    ['a failure', { status: 500, body: '{}' }],
    ['a redirect', { status: 302, body: '' }],
    ['no JSON', { status: 200, body: '<html>' }],
    ['no set of keys', { status: 200, body: '{"keys":{}}' }],
    ['null', { status: 200, body: 'null' }],
  ])('that can’t be had (%s) are a refusal with a warning, until they can', async (_, answer) => {
    issuer.answerWith(answer);
    expect(await verify(await signed())).toBeNull();
    expect(logger.warnings).toHaveLength(1);
    issuer.answerWith('keys');
    expect(await verify(await signed())).toEqual(CALLER);
  });

  it('of an issuer that is down are a refusal with a warning', async () => {
    const gone = await startIssuer();
    await gone.close();
    expect(await issuerTokens({ jwksUrl: gone.jwksUrl })(await signed())).toBeNull();
    expect(logger.warnings).toHaveLength(1);
  });

  it('that are no keys at all leave the others usable', async () => {
    const keys = [{ kty: 'RSA', kid: 'broken' }, null, { kty: 'oct', k: 'AAAA', kid: 'oct' }, ...issuer.publicKeys];
    issuer.answerWith({ status: 200, body: JSON.stringify({ keys: keys.filter((key) => key !== null) }) });
    expect(await verify(await signed({}, { kid: 'broken' }))).toBeNull();
    expect(await verify(await signed())).toEqual(CALLER);
  });
});

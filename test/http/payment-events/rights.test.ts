/** Who may publish, and what else a publisher may do: nothing. */

import { type Answer, Client } from '../../support/clients/api-client.js';
import { eventually } from '../../support/eventually.js';
import { CONTEXT } from '../../support/generators/webhook-samples.js';
import { type RunningApi, startApi, tokenFor } from '../../support/scenes/api-fixture.js';
import { type Issuer, startIssuer } from '../../support/servers/issuer.js';

const EVENT = '{"id":"pay-1","type":"cash_in","accountId":42}';
const SCOPE = 'payment-events:publish';
const FORBIDDEN = 'Bearer realm="account-webhooks", error="insufficient_scope"';

const challengeOf = ({ status, headers }: Answer) => ({ status, challenge: headers.get('www-authenticate') });

describe('with the service’s own tokens', () => {
  let api: RunningApi;
  let account: Client;

  beforeAll(async () => {
    api = await startApi();
    account = await api.account(42);
  });

  afterAll(() => api.close());

  it('the token of an account cannot publish, whatever it sends', async () => {
    for (const [body, type] of [
      [EVENT, 'application/json'],
      ['x'.repeat(2_000_000), 'text/plain'],
    ] as const) {
      const answer = await account.publish(body, type);
      expect(challengeOf(answer)).toEqual({ status: 403, challenge: `${FORBIDDEN}, scope="${SCOPE}"` });
      expect(answer.body).toMatchObject({
        success: false,
        message: expect.stringContaining('publisher'),
        code: expect.any(String),
      });
    }
    expect(await api.records()).toEqual([]);
  });

  it('the token of a publisher cannot do what is an account’s', async () => {
    const publisher = await api.publisher('curious');
    const answer = await publisher.send('GET', '/api/webhooks');
    expect(challengeOf(answer)).toEqual({ status: 403, challenge: FORBIDDEN });
    expect(answer.body).toEqual({
      success: false,
      message: 'the token of a publisher can only publish payment events',
      code: 'account-token-required',
    });
  });

  it('a publisher whose name is the number of an account is not that account', async () => {
    const publisher = await api.publisher('42');
    expect((await publisher.publish(EVENT)).status).toBe(202);
    expect((await publisher.send('GET', '/api/webhooks')).status).toBe(403);
  });

  it('a revoked credential ends its tokens, and no other', async () => {
    const publisher = await api.publisher('revoked');
    const issued = await api.registration.issueCredential('revoked', CONTEXT);
    const other = new Client(api.url, issued, await tokenFor(api.url, issued));
    expect((await publisher.publish(EVENT)).status).toBe(202);
    await api.registration.revokeCredential(publisher.credential.clientId, CONTEXT);
    await eventually(async () => (await publisher.publish(EVENT)).status === 401);
    expect((await other.publish(EVENT)).status).toBe(202);
    expect(await tokenFor(api.url, publisher.credential)).toBeUndefined();
  });

  async function token({ clientId, clientSecret }: { clientId: string; clientSecret: string }, scope?: string) {
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) });
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const response = await fetch(`${api.url}/oauth/token`, { method: 'POST', body: form, headers: { authorization } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  it.each([undefined, '', SCOPE, 'webhooks', `webhooks ${SCOPE}`])(
    'a publisher gets a token of its scope if it asks for %j',
    async (scope) => {
      const { credential } = await api.publisher(`scope.${(scope ?? 'none').replace(/[^a-z]/g, '-')}`);
      const { status, body } = await token(credential, scope);
      expect({ status, scope: body.scope }).toEqual({ status: 200, scope: SCOPE });
      const [, claims = ''] = String(body.access_token).split('.');
      expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
        scope: SCOPE,
        sub: expect.stringMatching(/^publisher:scope\./),
      });
    },
  );

  it.each([SCOPE, `webhooks ${SCOPE}`])('an account that asks for %j gets a token of its own scope', async (scope) => {
    expect(await token(account.credential, scope)).toMatchObject({ status: 200, body: { scope: 'webhooks' } });
  });
});

describe('with the tokens of another issuer', () => {
  let issuer: Issuer;
  let api: RunningApi;

  beforeAll(async () => {
    issuer = await startIssuer();
    api = await startApi({
      AUTH_JWKS_URL: issuer.jwksUrl,
      AUTH_ACCOUNT_CLAIM: 'account',
      AUTH_PUBLISHER_SCOPE: 'pay:publish',
    });
    await api.registration.register(42, CONTEXT);
  });

  afterAll(async () => {
    await api.close();
    await issuer.close();
  });

  async function holder(claims: object): Promise<Client> {
    const iat = Math.floor(Date.now() / 1000);
    const rules = { iss: 'account-webhooks', aud: 'account-webhooks', sub: 'ledger', iat, exp: iat + 60 };
    const none = { accountId: 0, clientId: '', clientSecret: '' };
    return new Client(api.url, none, await issuer.sign({ ...rules, ...claims }));
  }

  it.each<[string, object]>([
    ['scope as a string', { scope: 'openid pay:publish' }],
    ['scope as a list', { scope: ['pay:publish'] }],
    ['scp as a string', { scp: 'pay:publish' }],
    ['scp as a list', { scp: ['other', 'pay:publish'] }],
    ['an account that is not registered', { scope: 'pay:publish', account: 7 }],
    ['an account claim that is a name', { scope: 'pay:publish', account: 'ledger' }],
    ['an account claim that is null', { scope: 'pay:publish', account: null }],
  ])('a token with the scope publishes, and does nothing else: %s', async (_, claims) => {
    const publisher = await holder(claims);
    expect((await publisher.publish(EVENT)).status).toBe(202);
    expect((await publisher.send('GET', '/api/webhooks')).status).toBe(403);
  });

  it.each(['042', ' 42', '42.0', '0x2a', '', 42.5, [42], { id: 42 }, true])(
    'a token with the scope whose claim is an account in another form is refused: %j',
    async (account) => {
      const { status, body } = await (await holder({ account, scope: 'pay:publish' })).publish(EVENT);
      expect({ status, body }).toEqual({
        status: 401,
        body: {
          success: false,
          message: expect.stringContaining('the claim account must be'),
          code: expect.any(String),
        },
      });
    },
  );

  it('a token with the scope whose claim names a registered account is the account’s', async () => {
    const before = (await api.records()).length;
    for (const account of [42, '42']) {
      const customer = await holder({ account, scope: 'pay:publish' });
      const challenge = `${FORBIDDEN}, scope="pay:publish"`;
      expect(challengeOf(await customer.publish(EVENT))).toEqual({ status: 403, challenge });
      expect((await customer.send('GET', '/api/webhooks')).status).toBe(200);
    }
    expect(await api.records()).toHaveLength(before);
  });

  it.each<[number, object]>([
    [403, { account: 42 }],
    [403, { account: 42, scope: SCOPE }],
    [403, { account: 42, scope: 'pay:publisher xpay:publish' }],
    [403, { account: 42, scp: [['pay:publish'], 1, null], scope: null }],
    [401, {}],
    [401, { scope: 'openid' }],
  ])('a token without the scope is %i: %j', async (status, claims) => {
    expect((await (await holder(claims)).publish(EVENT)).status).toBe(status);
  });
});

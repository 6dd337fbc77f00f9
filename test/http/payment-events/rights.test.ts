/** Who may publish, and what else a publisher may do: nothing. */
import { type Answer, Client } from '../../support/clients/api-client.js';
import { eventually } from '../../support/clocks/eventually.js';
import { CONTEXT } from '../../support/generators/webhook-samples.js';
import { type RunningApi, startApi, tokenFor } from '../../support/scenes/api-fixture.js';
import { type Issuer, startIssuer } from '../../support/servers/issuer.js';

const EVENT = '{"id":"pay-1","type":"cash_in","accountId":42}';
const FORBIDDEN = 'Bearer realm="account-webhooks", error="insufficient_scope"';

const challengeOf = ({ status, headers }: Answer) => [status, headers.get('www-authenticate')];
const statusesOf = async (caller: Pick<Client, 'publish' | 'send'>) => [
  (await caller.publish(EVENT)).status,
  (await caller.send('GET', '/api/webhooks')).status,
];

describe('with the service’s own tokens', () => {
  let api: RunningApi;
  let account: Client;

  beforeAll(async () => {
    api = await startApi();
    account = await api.account(42);
  });

  afterAll(() => api.close());

  it('the token of an account cannot publish, whatever it sends', async () => {
    expect(challengeOf(await account.publish(EVENT))).toEqual([403, FORBIDDEN]);
    expect((await account.publish('x'.repeat(2_000_000), 'text/plain')).status).toBe(403);
    expect(await api.records()).toEqual([]);
  });

  it('the token of a publisher cannot do what is an account’s, also not of the account that it is named after', async () => {
    const publisher = await api.publisher('42');
    expect((await publisher.publish(EVENT)).status).toBe(202);
    const refused = await publisher.send('GET', '/api/webhooks');
    expect(challengeOf(refused)).toEqual([403, FORBIDDEN]);
    expect(refused.body).toMatchObject({ code: 'account-token-required' });
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

  it('a publisher’s token has its scope and its name', async () => {
    const [, claims = ''] = (await api.publisher('ledger')).token.split('.');
    const named = { scope: 'payment-events:publish', sub: expect.stringMatching(/^publisher:ledger/) };
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject(named);
  });
});

describe('with the tokens of another issuer', () => {
  let issuer: Issuer;
  let api: RunningApi;

  beforeAll(async () => {
    issuer = await startIssuer();
    const scope = { AUTH_ACCOUNT_CLAIM: 'account', AUTH_PUBLISHER_SCOPE: 'pay:publish' };
    api = await startApi({ AUTH_JWKS_URL: issuer.jwksUrl, ...scope });
    await api.registration.register(42, CONTEXT);
  });

  afterAll(async () => {
    await api.close();
    await issuer.close();
  });

  async function holder(claims: object) {
    const iat = Math.floor(Date.now() / 1000);
    const rules = { iss: 'account-webhooks', aud: 'account-webhooks', sub: 'ledger', iat, exp: iat + 60 };
    return new Client(api.url, { clientId: '', clientSecret: '' }, await issuer.sign({ ...rules, ...claims }));
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
    expect(await statusesOf(await holder(claims))).toEqual([202, 403]);
  });

  it.each(['042', ' 42', '42.0', '0x2a', '', 42.5, [42], { id: 42 }, true])(
    'a token with the scope whose claim is an account in another form is refused: %j',
    async (account) => {
      const message = expect.stringContaining('the claim account must be');
      const refused = await (await holder({ account, scope: 'pay:publish' })).publish(EVENT);
      expect(refused).toMatchObject({ status: 401, body: { message } });
    },
  );

  it.each([42, '42'])(
    'a token with the scope whose claim names a registered account is the account’s',
    async (account) => {
      expect(await statusesOf(await holder({ account, scope: 'pay:publish' }))).toEqual([403, 200]);
    },
  );

  it.each<[number, object]>([
    [403, { account: 42, scope: 'payment-events:publish' }],
    [403, { account: 42, scope: 'pay:publisher xpay:publish' }],
    [403, { account: 42, scp: [['pay:publish'], 1, null], scope: null }],
    [401, { scope: 'openid' }],
  ])('a token without the scope is %i: %j', async (status, claims) => {
    expect((await (await holder(claims)).publish(EVENT)).status).toBe(status);
  });
});

/** Parsers of request heads and bodies, and of tokens: twice the text takes at most three times as long. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose';
import Koa from 'koa';
import { createIssuerTokens } from '../../src/accounts/issuer-tokens.js';
import { createOwnTokens } from '../../src/accounts/own-tokens.js';
import { guardLookup } from '../../src/endpoints/guarded-lookup.js';
import type { ApiParts } from '../../src/http/api-parts.js';
import { jsonReader, readForm } from '../../src/http/body.js';
import { listHistory } from '../../src/http/history.js';
import { requestKey } from '../../src/http/idempotency.js';
import type { Route } from '../../src/http/operation.js';
import { FILTERS, parseQuery, readQuery } from '../../src/http/query.js';
import { read } from '../../src/http/read-answer.js';
import { createApi } from '../../src/http/server.js';
import { CAN, openSession, serviceUrl } from '../../src/http/sessions/portal-sessions.js';
import { createAuthentication } from '../../src/http/tokens/authenticate.js';
import { issueToken } from '../../src/http/tokens/issue-token.js';
import { WEBHOOK } from '../../src/http/webhooks/webhook-fields.js';
import { list, object, type Schema } from '../../src/schema.js';
import { createFingerprints } from '../../src/secrets/fingerprint.js';
import { masterKey } from '../../src/secrets/master-keys.js';
import { attempted, describeLinear, HEAD, KIB, type Parser, repeat } from '../support/oracles/linear-time.js';
import { noHttpMetrics } from '../support/scenes/no-metrics.js';
import { silentLogger } from '../support/scenes/silent-logger.js';

const BODY = 64 * KIB;
const RULES = { issuer: 'i', audience: 'a' };
const clock = { now: () => 0 };
const { publicKey, privateKey } = await generateKeyPair('ES256');
const keys = createLocalJWKSet({ keys: Array(100).fill(await exportJWK(publicKey)) });
const issuer = createIssuerTokens({
  ...{ ...RULES, accountClaim: 'account', publisherScope: 'publish', clockToleranceMs: 0, clock },
  keys: { current: async () => keys, newer: async () => null },
});
const own = createOwnTokens({ ...RULES, keys: [Buffer.alloc(32)], lifetimeMs: 1_000, clock });
const signed = await new SignJWT({}).setProtectedHeader({ alg: 'ES256' }).setSubject('s').sign(privateKey);
const encoded = (json: string) => Buffer.from(json).toString('base64url');
const toTokens = ['kid', 'crit', 'alg', 'x5c'].map(
  (name) => (length: number) => `${encoded(`{"alg":"ES256","${name}":"${'a'.repeat(length)}"}`)}.e30.AA`,
);
const TOKENS = [
  repeat('a'),
  repeat('.'),
  repeat('a.', '', 'a'),
  repeat('=', 'a.b.'),
  repeat(' '),
  ...toTokens,
  (length: number) => `${encoded(`{"alg":"ES256"}`)}.${encoded(`{"scope":"${' '.repeat(length)}"}`)}.AA`,
  repeat('A', `${signed.split('.', 2).join('.')}.`),
];

function contextOf(headers: Readonly<Record<string, string>>, body = ''): Koa.Context {
  const rawHeaders = Object.entries(headers).flat();
  const req = Object.assign(Readable.from([Buffer.from(body)]), { headers, rawHeaders, url: '/', method: 'POST' });
  const res = { setHeader: () => undefined, removeHeader: () => undefined, getHeader: () => undefined };
  return new Koa().createContext(req as never, res as never) as Koa.Context;
}

const parts = {
  accounts: { credential: async () => undefined, webhooks: async () => undefined, session: async () => undefined },
  admission: {
    during: (_: unknown, work: (place: object) => unknown) => work({ send: () => undefined }),
    timed: (_: unknown, make: () => string) => make(),
  },
  verifyToken: own.verify,
  publicUrl: 'https://hooks.example.com',
  now: () => new Date(0),
} as unknown as ApiParts;
const { bearer } = createAuthentication(parts);
const tokenEndpoint = issueToken(parts, own);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const tagged = read({ id: 'a', path: '/', description: '', returns: {}, isTagged: true }).answer(
  async () => () => ({}),
);
const json = (schema: Schema) =>
  attempted((text) =>
    jsonReader(schema)(contextOf({ 'content-type': 'application/json', 'content-length': String(text.length) }, text)),
  );
const queryOf = (text: string) =>
  parseQuery(new Koa().createContext({ url: `/?${text}`, headers: {} } as never, {} as never) as Koa.Context);

const fingerprints = createFingerprints([masterKey(Buffer.alloc(32))]);
const respond = createApi({
  ...parts,
  newRequestId: () => 'an id',
  logger: silentLogger,
  tracing: null,
  metrics: noHttpMetrics,
  console: { files: null, frameAncestors: null },
  publishing: { topics: ['payment-events'] },
  rateLimits: {},
  catalogue: new Map(),
  ownTokens: null,
  asyncApi: '{}',
  version: '0.0.0',
} as unknown as ApiParts).callback();
/** Without a connection: the response stays in memory. */
const responseTo = (url: string, headers: Readonly<Record<string, string>> = {}) => {
  const req = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url, headers });
  return respond(req, new ServerResponse(req));
};
const calledWith = (route: Route) => (ctx: Koa.Context) => {
  ctx.state.caller = { accountId: 42, actor: 'a caller', session: null };
  return route.handle(ctx);
};
const sessionWith = (field: string) =>
  attempted((text) => {
    const body = `{"${field}":"${text}"}`;
    return calledWith(openSession(parts))(
      contextOf({ 'content-type': 'application/json', 'content-length': String(body.length) }, body),
    );
  });
const historyBefore = attempted((text) =>
  calledWith(listHistory(parts))(Object.assign(contextOf({}), { querystring: `before=${text}` })),
);

const IDS = [repeat('a'), repeat('.'), repeat('-', 'a', ' '), repeat(' ', 'a')];
const PATHS = [
  repeat('/'),
  repeat('/a'),
  repeat('%', '/'),
  repeat('%41', '/'),
  repeat('a', '/api/webhooks/'),
  repeat('/a', '/api/webhooks/1'),
  repeat('%2f', '/api/deliveries/', '/attempts'),
  repeat('a', '/console/', '/'),
  repeat('/', '/console/', 'a'),
];
const LISTS = [
  repeat('"read",', '{"can":[', '"read"]}'),
  repeat('"x",', '{"can":[', '"x"]}'),
  repeat('{},', '{"can":[', '{}]}'),
  repeat('1,', '{"can":[', '1]}'),
  repeat('[', '{"can":[', ''),
  repeat('"a":{},', '{', '"can":[]}'),
];
const FORMS = [
  repeat('&'),
  repeat('a=1&'),
  repeat('resource=&'),
  repeat('%'),
  repeat('%41'),
  repeat('+'),
  repeat('grant_type=a&'),
];

const PARSERS: readonly Parser[] = [
  ['a token of the service', own.verify, TOKENS, HEAD],
  ['a token of an issuer with 100 keys', issuer, TOKENS, HEAD],
  [
    'an Authorization header',
    attempted((text) => bearer(contextOf({ authorization: text }))),
    [...TOKENS, repeat(' ', 'bearer'), repeat('a', 'Bearer ')],
    HEAD,
  ],
  [
    'a session of the console',
    attempted((text) => bearer(contextOf({ 'x-console': text, cookie: text }))),
    [repeat('ps_'), repeat(`;__Host-console-ps_${'a'.repeat(16)}=1.ps_`)],
    HEAD,
  ],
  [
    'HTTP Basic',
    (text) =>
      tokenEndpoint.handle(contextOf({ ...FORM, authorization: `Basic ${text}` }, 'grant_type=client_credentials')),
    [repeat('a'), repeat('Og'), repeat('='), repeat(' '), repeat('JSZ'), repeat('a', '', '!')],
    HEAD,
  ],
  ['a form', attempted((text) => tokenEndpoint.handle(contextOf(FORM, text.slice(0, BODY)))), FORMS, BODY],
  ['the text of a form', attempted((text) => readForm(contextOf(FORM, text.slice(0, BODY)))), FORMS, BODY],
  ['a list of rights', json(object('a', '', { can: CAN })), LISTS, BODY / 2],
  ['a list of objects', json(object('a', '', { can: list('', WEBHOOK) })), LISTS, BODY / 2],
  [
    'a media type',
    attempted((text) => readForm(contextOf({ 'content-type': text }))),
    [repeat(';'), repeat(' ', ';')],
    HEAD,
  ],
  [
    'X-Request-Id and X-Correlation-Id',
    (text) => responseTo('/nowhere', { 'x-request-id': text, 'x-correlation-id': text }),
    IDS,
    HEAD,
  ],
  [
    'Idempotency-Key',
    attempted((text) => requestKey(contextOf({ 'idempotency-key': text }), {}, fingerprints)),
    IDS,
    HEAD,
  ],
  ['a path', (text) => responseTo(text), PATHS, HEAD],
  [
    'Accept',
    (text) => responseTo('/', { accept: text }),
    [repeat('a/b,'), repeat(';q=0.1', 'a/b'), repeat('text/htm'), repeat(' ')],
    HEAD,
  ],
  ...['user', 'lifetime', 'next', 'returnUrl'].map(
    (field): Parser => [
      `the ${field} of a session to open`,
      sessionWith(field),
      [
        ...IDS,
        repeat('a ', '', 'a'),
        repeat('9', '', 'h'),
        repeat('/'),
        repeat('a', '/'),
        repeat('a.', 'https://'),
        repeat('@', 'https://a'),
      ],
      BODY / 2,
    ],
  ),
  ['the place of a page of the history', historyBefore, [repeat('0'), repeat('9'), repeat('%39')], HEAD],
  [
    'If-None-Match',
    (text) => calledWith(tagged(parts))(contextOf({ 'if-none-match': text })),
    [repeat(','), repeat(' ', ',', 'a'), repeat('W/"a", ')],
    HEAD,
  ],
  [
    'Host',
    attempted((text) => serviceUrl(contextOf({ host: text }), null)),
    [repeat('a.'), repeat('[:'), repeat(':1')],
    HEAD,
  ],
  [
    'a query string',
    attempted((text) => readQuery({ ...FILTERS } as never, queryOf(text))),
    [...FORMS, repeat('eventId=1&'), repeat('a&'), repeat('%e4%b8%80', 'eventId=')],
    HEAD,
  ],
  [
    'the addresses of a name',
    (text) => {
      const addresses = Array(text.length >> 3).fill({ address: '192.0.2.1', family: 4 });
      guardLookup(
        (_name, _options, callback) => callback(null, addresses),
        () => true,
      )('a', {}, () => undefined);
    },
    [repeat('a')],
    HEAD,
  ],
];

describeLinear(PARSERS);

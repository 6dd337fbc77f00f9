/** GET /openapi.json: OpenAPI 3.1, assembled from the operations' descriptions and from the middleware of each. Public. */
import { PUBLISHER_SCOPE } from '../../accounts/access-tokens.js';
import { id, type Schema, text } from '../../schema.js';
import type { ApiParts } from '../api-parts.js';
import { type Operation, operation, route } from '../operation.js';
import { ERROR } from '../shared-schemas.js';
import { nameSchemas } from './named-schemas.js';
import { NOTICE_WEBHOOK, PAYMENT_EVENT_WEBHOOK } from './payment-event-webhook.js';

function openApiDocument(operations: readonly Operation[], version: string): Schema {
  const issuesTokens = operations.some(({ security }) => security === 'client');
  const securityOf: SecurityOf = ({ security }) =>
    SECURITY[security].filter((one) => issuesTokens || !('token' in one));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of operations) {
    paths[one.path] = { ...paths[one.path], [one.method]: described(one, securityOf) };
  }
  const used = new Set(operations.flatMap((one) => securityOf(one).flatMap((scheme) => Object.keys(scheme))));
  const securitySchemes = Object.fromEntries(Object.entries(SECURITY_SCHEMES).filter(([name]) => used.has(name)));
  const { root, schemas } = nameSchemas({
    paths,
    webhooks: { paymentEvent: PAYMENT_EVENT_WEBHOOK, notice: NOTICE_WEBHOOK },
  });
  return {
    openapi: '3.1.0',
    info: { ...INFO, version },
    servers: SERVERS,
    tags: TAGS.map(([name, , description]) => ({ name, description })),
    ...root,
    components: { schemas, headers: HEADERS, securitySchemes },
  };
}

const INFO = {
  title: 'account-webhooks',
  description: 'Webhooks for instant-payment accounts. Unknown fields of a request body are ignored.',
  contact: { name: 'The operator of this service' },
  license: { name: 'MIT', identifier: 'MIT' },
};

/** The service does not know its public address. A relative URL is resolved against the document's URL. */
const SERVERS = [{ url: '/', description: 'The service that serves this document.' }];

/** By the path of an operation: the first that fits. */
const TAGS: readonly (readonly [name: string, paths: RegExp, description: string])[] = [
  [
    'Deliveries',
    /^\/api\/(deliveries|events|stats|recoveries|client-certificate|webhooks\/\{id\}\/)/,
    'List what was published and delivered, send it again, and send a test event.',
  ],
  ['Webhooks', /^\/api\/(webhooks|event-types)/, 'Register, list, activate, deactivate and remove webhooks.'],
  ['History', /^\/api\/history/, 'List what changed, when, and by whom.'],
  ['Signing secrets', /^\/api\/signing-secrets/, 'List and replace the secrets that deliveries are signed with.'],
  ['Sessions', /session/, 'Open, enter and end sessions of the console, for users of the account or of a portal.'],
  ['Notices', /^\/api\/notices/, 'Set where an account is told that a webhook fails, recovers or is deactivated.'],
  ['Publishing', /^\/api\/payment-events/, 'For payment systems: publish payment events.'],
  ['Authentication', /token|credentials/, 'Get the bearer token that the other operations need.'],
  ['Payment events', /^$/, 'The requests that the service sends to the URLs of webhooks.'],
  ['Documents', /^/, 'Machine-readable descriptions of the service.'],
];

const BEARER = [{ bearer: [] }, { token: [] }];
const SESSION = [{ session: [] }];
const SECURITY: Readonly<Record<Operation['security'], readonly Schema[]>> = {
  bearer: [...BEARER, ...SESSION],
  token: BEARER,
  session: SESSION,
  publisher: [{ publisher: [] }, { token: [PUBLISHER_SCOPE] }],
  // The client's own credentials may also be in the form; then no scheme applies.
  client: [{ client: [] }, {}],
  none: [],
};

type SecurityOf = (operation: Operation) => readonly Schema[];

function described(one: Operation, securityOf: SecurityOf): Schema {
  const { path, security, body, right = 'read' } = one;
  const needed = security === 'bearer' ? ` A session needs the right \`${right}\`.` : '';
  const parameters = parametersOf(one);
  const refusals = { ...usualRefusals(one), ...one.refusals };
  return {
    operationId: one.id,
    tags: [TAGS.find(([, paths]) => paths.test(path))?.[0]],
    summary: summaryOf(one.id),
    description: one.description + needed,
    security: securityOf(one),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !('isOptional' in body), content: contentOf(body) } }),
    responses: {
      [one.status ?? 200]: answered(one),
      ...(one.unchanged && { 200: response(one.unchanged, one.returns, {}) }),
      ...(one.isTagged && { 304: NOT_MODIFIED }),
      ...Object.fromEntries(
        Object.entries(refusals).map(([status, why]) => [status, refused(one, Number(status), why)]),
      ),
    },
  };
}

/** `List signing secrets` of listSigningSecrets. */
function summaryOf(id: string): string {
  const words = id.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function contentOf(body: NonNullable<Operation['body']>): Schema {
  const content = body.type === 'own' ? body.content : { [MEDIA_TYPES[body.type]]: body.schema };
  return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));
}

const MEDIA_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' };

const UNKNOWN = 'The account has none with this id, or is not registered.';
const TOO_MANY =
  'The account sent too many requests, added too much to its history, or sent too much again, or another test is in progress; or its reads cost too much, far more than clients need. Retry-After says when to try again.';
const OF_CREDENTIALS = {
  401: 'The token, or the session with its cookie, is missing, not valid or over.',
  503: "The event store, the list of deliveries or the keys of the token's issuer are unavailable, or the account's history can't be read, or the service is stopping. Retry-After says when to try again.",
};
const FORBIDDEN = 'The token is of the wrong kind, account or publisher; or the session has not the right.';

/** The `{id}` of a path, by the resource before it. */
const PATH_IDS: Readonly<Record<string, Schema>> = {
  webhooks: id('The id of the webhook, as GET /api/webhooks shows it.'),
  deliveries: text('The id of the delivery, which its receiver gets as `webhook-id`.'),
  recoveries: text("The id of the recovery. A webhook's last recovery is kept."),
  'portal-sessions': text('The id of the session, as GET /api/portal-sessions shows it.'),
};

function pathIdOf({ path }: Operation): Schema | undefined {
  return PATH_IDS[/^\/api\/([\w-]+)\/\{id\}/.exec(path)?.[1] ?? ''];
}

/** Of the operations of its kind; its own take their place. */
function usualRefusals(one: Operation) {
  const { security, rateLimit, body, query, needsAccount = true } = one;
  const isOfAccount = security === 'bearer' || security === 'token';
  const authenticates = security !== 'client' && security !== 'none';
  return {
    ...(query && { 400: 'A query parameter is not valid, or does not go with the others. `errors` names each.' }),
    ...(body && BODY_REFUSED),
    ...(body && security === 'none' && { 413: 'The body exceeds 8,192 bytes.' }),
    ...(authenticates && OF_CREDENTIALS),
    ...(authenticates && security !== 'session' && { 403: FORBIDDEN }),
    ...(isOfAccount && needsAccount && { 404: pathIdOf(one) ? UNKNOWN : 'The account is not registered.' }),
    ...(rateLimit && { 429: TOO_MANY }),
    431: 'The request line and headers exceed 16,384 bytes.',
    500: 'Internal error. The request can be retried safely.',
  };
}

const BODY_REFUSED = {
  400: 'The body is not JSON, or a field is not valid. `errors` names each.',
  413: 'The body exceeds 65,536 bytes.',
  415: 'The Content-Type or Content-Encoding is not supported.',
};

function parametersOf(one: Operation): readonly Schema[] {
  const { query = {}, headers = {}, isTagged } = one;
  const pathId = pathIdOf(one);
  return [
    ...(pathId ? [parameter('path', 'id', pathId)] : []),
    ...Object.entries(query).map(([name, { description, schema, required = false }]) => {
      return { name, in: 'query', description, schema, required };
    }),
    ...Object.entries(headers).map(([name, schema]) => parameter('header', name, schema)),
    ...(isTagged ? [parameter('header', 'If-None-Match', IF_NONE_MATCH)] : []),
  ];
}

function parameter(place: 'path' | 'header', name: string, { description, ...schema }: Schema) {
  return { name, in: place, description, schema, required: place === 'path' };
}

const ETAG = { ETag: header('Identifies this response: see `If-None-Match`.') };
const NOT_MODIFIED = { description: 'Unchanged since the response that `If-None-Match` names.', headers: ETAG };
const IF_NONE_MATCH = text(
  'The `ETag` of an earlier response: if nothing has changed since, the answer is 304. Only its first 1,024 characters count.',
);

function answered({ returns, sets = {}, isTagged }: Operation): Schema {
  const own = Object.entries(sets).map(([name, description]) => [name, header(description)] as const);
  return response(returns.description, returns, { ...Object.fromEntries(own), ...(isTagged && ETAG) });
}

function refused({ refusals = {}, refusal = ERROR }: Operation, status: number, why: string): Schema {
  const name = HEADER_OF[status];
  const headers = name ? { [name]: { $ref: `#/components/headers/${name}` } } : {};
  return response(why, status in refusals ? refusal : ERROR, headers);
}

function response(description: unknown, schema: Schema, headers: Schema): Schema {
  const content = { 'application/json': { schema } };
  return { description, ...(Object.keys(headers).length > 0 && { headers }), content };
}

function header(description: string, type = 'string'): Schema {
  return { description, schema: { type } };
}

const TOKEN = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
const SECURITY_SCHEMES = {
  bearer: { ...TOKEN, description: "An account's access token in the Authorization header." },
  publisher: { ...TOKEN, description: 'Likewise the access token of a publisher. Only publishers have one.' },
  token: {
    type: 'oauth2',
    description: 'The same access token, from client credentials.',
    flows: {
      clientCredentials: { tokenUrl: '/oauth/token', scopes: { [PUBLISHER_SCOPE]: 'Publish payment events.' } },
    },
  },
  session: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Console',
    description:
      'The id of a session, whose cookie the request has: `__Host-console-<id>`, or `console-<id>` on http to a loopback address. Only for requests without a Bearer token.',
  },
  client: { type: 'http', scheme: 'basic', description: 'The client id and secret by HTTP Basic.' },
};

const HEADER_OF: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  403: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};
const HEADERS = {
  'Retry-After': header('How many seconds to wait before the next request.', 'integer'),
  'WWW-Authenticate': header('How to authenticate (RFC 6750 section 3, RFC 6749 section 5.2).'),
};

function shows<Path extends string>(id: string, path: Path, description: string, returned: string) {
  const returns = { type: 'object', description: returned } as const;
  return operation({ id, method: 'get', path, security: 'none', description, returns });
}

const SHOW_OPEN_API = shows('showOpenApi', '/openapi.json', 'Returns this document.', 'An OpenAPI 3.1 document.');
const SHOW_ASYNC_API = shows(
  'showAsyncApi',
  '/asyncapi.json',
  'Returns the contract for payment systems: the topic, its records, and publishing over HTTP.',
  'An AsyncAPI 3.0 document.',
);

export function showOpenApi(operations: readonly Operation[], version: string) {
  return document(SHOW_OPEN_API, JSON.stringify(openApiDocument([...operations, SHOW_OPEN_API], version)));
}

export function showAsyncApi({ asyncApi }: ApiParts) {
  return document(SHOW_ASYNC_API, asyncApi);
}

/** As one buffer, which all responses share: of a text, each response that is not read would hold a copy, and nobody counts those. */
function document(operation: typeof SHOW_OPEN_API | typeof SHOW_ASYNC_API, json: string) {
  const bytes = Buffer.from(json);
  return route(operation, (ctx) => {
    ctx.type = 'application/json';
    ctx.body = bytes;
  });
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeysUnavailable } from '../../src/accounts/access-tokens.js';
import type { IssuedCredential } from '../../src/accounts/registration.js';
import { Admission } from '../../src/http/admission.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import { TooManyWaiting } from '../../src/webhooks/account-turns.js';
import { type Client, type RunningApi, startApi } from '../support/api-fixture.js';
import { type BareApi, startBareApi, UNPACED } from '../support/bare-api.js';
import {
  compiler,
  type DocumentedOperation,
  expectDocumented,
  fetchDocument,
  type Json,
  type OpenApiDocument,
  operationOf,
} from '../support/documented.js';
import { Browser, codeIn, opened } from '../support/portal-session.js';
import { head, rawRequest } from '../support/raw-request.js';
import { CONTEXT } from '../support/webhook-samples.js';

const METHODS = ['get', 'post', 'patch', 'delete', 'put'];
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const TOO_BIG = 'x'.repeat(65_537);
const ENDED = { kind: 'session-not-found' } as const;
const SESSION = { id: 'ps_0000000000000000', actor: 'a', can: ['read'], until: '9999-01-01T00:00:00.000Z' };
const LONG_HEAD = { headers: { 'x-filler': 'x'.repeat(17_000) } };

let api: RunningApi;
let document: OpenApiDocument;

beforeAll(async () => {
  api = await startApi({ RATE_LIMIT_WRITES: '6', RATE_LIMIT_TOKENS: '2' });
  document = await fetchDocument(api.url);
});

afterAll(() => api.close());

function operations(of = document): { route: string; operation: DocumentedOperation }[] {
  return Object.entries(of.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
  );
}

/** Of the templates that a path without parameters is of as well. */
function operationsAt(path: string): object[] {
  const paths = Object.entries(document.paths).filter(([template]) => /\{\w+\}/.test(template));
  const isOf = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/{}]+')}$`).test(path);
  return paths.filter(([template]) => isOf(template)).map(([, methods]) => methods);
}

const schemasOf = ({ requestBody, parameters = [], responses }: DocumentedOperation): Json[] => [
  ...parameters.map(({ schema }) => schema),
  ...[...Object.values(responses), ...(requestBody ? [requestBody] : [])].flatMap(({ content }) =>
    Object.values(content ?? {}).map(({ schema }) => schema),
  ),
];

function every(node: unknown, key: string): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [...(name === key ? [value] : []), ...every(value, key)]);
}

describe('GET /openapi.json', () => {
  it('needs no token, and is JSON of OpenAPI 3.1', async () => {
    const response = await fetch(`${api.url}/openapi.json`);
    expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
    });
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as Json;
    expect(await response.json()).toMatchObject({ openapi: expect.stringMatching(/^3\.1\.\d+$/), info: { version } });
  });

  it('has every route', () => {
    expect(operations().map(({ route }) => route)).toEqual(
      expect.arrayContaining([
        ...['GET /api/webhooks/health', 'GET /api/webhooks/{id}', 'GET /api/events', 'GET /api/stats'],
        ...['POST /api/webhooks', 'GET /api/webhooks', 'PATCH /api/webhooks/{id}', 'DELETE /api/webhooks/{id}'],
        ...[
          'GET /api/deliveries',
          'GET /api/deliveries/{id}',
          'GET /api/webhooks/{id}/deliveries',
          'POST /api/webhooks/{id}/test',
        ],
        ...['POST /oauth/token', 'GET /openapi.json', 'GET /.well-known/oauth-authorization-server'],
      ]),
    );
  });

  it('has them with the methods that each path takes, and no others', async () => {
    for (const [path, described] of Object.entries(document.paths)) {
      const target = api.url + path.replaceAll(/\{\w+\}/g, '1');
      for (const method of METHODS) {
        const response = await fetch(target, { method: method.toUpperCase() });
        await response.arrayBuffer(); // fetch keeps the socket of a body over 64 KiB that nobody reads
        const { status } = response;
        // /api/webhooks/health is an id for the methods that it has not.
        const isTaken = method in described || operationsAt(path).some((others) => method in others);
        expect({ path, method, isOther: status === 405 }).toEqual({ path, method, isOther: !isTaken });
        expect(status).not.toBe(404);
      }
    }
  });
});

describe('the document', () => {
  it('refers to nothing that is not there', () => {
    const references = every(document, '$ref') as string[];
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      const found = reference
        .replace(/^#\//, '')
        .split('/')
        .reduce<unknown>((node, name) => (node as Json | undefined)?.[name], document);
      expect({ reference, found }).toEqual({ reference, found: expect.anything() });
    }
  });

  it('has for each operation an id, a summary, known security, and the parameters of its path', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { route, operation } of operations()) {
      expect(operation).toMatchObject({
        operationId: expect.stringMatching(/^[a-z]\w+$/),
        summary: expect.any(String),
      });
      const schemes = operation.security.flatMap((requirement) => Object.keys(requirement));
      expect(Object.keys(document.components.securitySchemes)).toEqual(expect.arrayContaining(schemes));
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(route.match(/\{\w+\}/g) ?? []);
    }
  });

  it('has for each answer a description and a schema that compiles, as has each body and parameter', () => {
    const compile = compiler(document);
    for (const { operation } of operations()) {
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(response).toMatchObject({
          description: expect.stringMatching(/./),
          ...(status !== '304' && { content: { 'application/json': { schema: expect.anything() } } }),
        });
      }
      for (const schema of schemasOf(operation)) expect(compile(schema)).toBeInstanceOf(Function);
    }
  });

  it('describes every field, parameter, header, answer, schema and tag', () => {
    const fields = every(document, 'properties').flatMap((properties) => Object.entries(properties as Json));
    const named = ['schemas', 'headers', 'securitySchemes'].flatMap((kind) => {
      return Object.entries(document.components[kind as keyof OpenApiDocument['components']]);
    });
    const parameters = every(document, 'parameters').filter(Array.isArray).flat() as Json[];
    const answers = (every(document, 'responses') as Json[]).flatMap(Object.entries);
    const all = [...fields, ...named, ...answers, ...[...parameters, ...(document.tags as Json[])].entries()];
    expect(all.length).toBeGreaterThan(150);
    const undescribed = all.filter(([, node]) => !/^[A-Z`].*[.]$/.test(String((node as Json).description)));
    expect(undescribed).toEqual([]);
  });

  it('names every schema that has fields, so that generated clients do', () => {
    expect(every([document.paths, document.webhooks], 'properties')).toEqual([]);
    for (const schema of Object.values(document.components.schemas)) {
      expect(every(schema, 'properties')).toEqual('properties' in schema ? [schema.properties] : []);
    }
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Webhook', 'WebhookList', 'Delivery', 'DeliveryPage', 'Attempt', 'Error', 'EventType']),
    );
  });

  it('names the headers of rate limits and of idempotency', () => {
    const post = operationOf(document, 'POST', '/api/webhooks');
    expect(post?.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header', required: false }]);
    const names = (status: number) => Object.keys(post?.responses[status]?.headers ?? {});
    expect(names(200)).toEqual(['RateLimit-Policy', 'RateLimit', 'Idempotent-Replayed']);
    expect(names(429)).toEqual(['RateLimit-Policy', 'RateLimit', 'Retry-After']);
    expect(names(401)).toEqual(['WWW-Authenticate']);
  });

  it('without tokens of our own has no way to get one', async () => {
    const other = await startApi({ AUTH_JWKS_URL: 'http://127.0.0.1:1/jwks' });
    const { paths, components } = await fetchDocument(other.url);
    await other.close();
    expect(Object.keys(paths).filter((path) => path.includes('oauth'))).toEqual([]);
    expect(Object.keys(components.securitySchemes)).toEqual(['bearer', 'session']);
    expect(paths['/api/webhooks']?.post?.security).toEqual([{ bearer: [] }, { session: [] }]);
  });
});

describe('a body that the document takes the service takes, and one that it refuses is refused', () => {
  const good = { url: 'https://shop.example.com/', eventType: 'cash_in', headers: [{ key: 'X-A', value: 'v' }] };
  const header = { key: 'X-A', value: 'v' };
  let client: BareApi;

  beforeAll(async () => {
    client = await startBareApi();
  });

  afterAll(() => client.close());

  it.each<[string, string, unknown]>([
    ...[good, { ...good, headers: undefined }, { ...good, headers: [] }, { ...good, more: 1 }].map(
      (body) => ['POST', '/api/webhooks', body] as [string, string, unknown],
    ),
    ...[{}, { ...good, url: 1 }, { ...good, url: null }, { ...good, eventType: 'x' }, [good], 'text', null].map(
      (body) => ['POST', '/api/webhooks', body] as [string, string, unknown],
    ),
    ...[
      { ...good, headers: null },
      { ...good, headers: [{ key: 'X-A' }] },
      { ...good, headers: Array(6).fill(header) },
      { ...good, headers: [{ key: 'X A', value: 'v' }] },
      { ...good, headers: [{ key: 'X-A', value: 'v ' }] },
      { ...good, headers: [{ key: 'x'.repeat(65), value: 'v' }] },
      { ...good, headers: [{ key: 'X-A', value: 'x'.repeat(4_097) }] },
    ].map((body) => ['POST', '/api/webhooks', body] as [string, string, unknown]),
    ...[{ isActive: true }, { isActive: false, more: 1 }, { isActive: 'true' }, { isActive: null }, {}, []].map(
      (body) => ['PATCH', '/api/webhooks/1', body] as [string, string, unknown],
    ),
  ])('%s %s %j', async (method, path, body) => {
    const { requestBody } = operationOf(document, method, path) ?? {};
    const { schema = {} } = requestBody?.content['application/json'] ?? {};
    // Unlike an answer, a body may have fields that are not described.
    const validate = compiler(document, { isClosed: false })(schema);
    const headers = { ...JSON_TYPE, authorization: 'Bearer caller-42' };
    const response = await fetch(client.url + path, { method, headers, body: JSON.stringify(body) });
    await response.arrayBuffer();
    expect({ isTaken: response.status === 200 }).toEqual({ isTaken: validate(body) });
  });
});

describe('each documented answer is one that the service gives, and in that shape', () => {
  const seen = new Set<string>();
  const send = async (url: string, route: string, init: RequestInit = {}): Promise<void> => {
    const [method = '', path = ''] = route.split(' ');
    const response = await fetch(url + path, { method, ...init });
    const { status, headers } = response;
    await expectDocumented(url, { method, path, status, headers, body: status === 304 ? null : await response.json() });
    seen.add(`${method} ${path.replace(/[?].*/, '').replace(/\d+|msg_\w+/, '{id}')} ${status}`);
  };
  const expectAllSeen = (...routes: readonly string[]) => {
    const documented = routes.flatMap((route) => {
      const { operation } = operations().find((candidate) => candidate.route === route) ?? {};
      return Object.keys(operation?.responses ?? {}).map((status) => `${route} ${status}`);
    });
    expect(documented.length).toBeGreaterThan(routes.length);
    expect(documented.filter((answer) => !seen.has(answer))).toEqual([]);
  };
  const as = ({ token }: Pick<Client, 'token'>, more: Readonly<Record<string, string>> = {}) => ({
    authorization: `Bearer ${token}`,
    ...JSON_TYPE,
    ...more,
  });
  const webhook = (path: string) =>
    JSON.stringify({
      url: `https://shop.example.com/${path}`,
      eventType: 'cash_in',
      headers: [{ key: 'A', value: 'v' }],
    });

  const failing = () => Promise.reject(new Error('planted'));
  let broken: BareApi;
  let bare: BareApi;
  let keyless: BareApi;
  let storeless: BareApi;
  /** Account 42 has read as much as it may. */
  let read: BareApi;

  beforeAll(async () => {
    const accounts = { webhooks: failing, credential: failing, credentialsNow: failing, session: failing } as never;
    const ownTokens = { issue: failing, verify: failing };
    broken = await startBareApi({
      parts: { handleCommand: failing, handleKeyedCommand: failing, changeCredentials: failing, accounts, ownTokens },
    });
    const away = () => Promise.reject(new StoreUnavailable('planted'));
    storeless = await startBareApi({
      parts: { accounts: { webhooks: away, credential: away, session: away } as never, ownTokens },
    });
    bare = await startBareApi();
    const admission = new Admission({ msPerMinute: 1, now: () => performance.now() });
    admission.charge(42, 20);
    read = await startBareApi({ parts: { admission } });
    keyless = await startBareApi({ parts: { verifyToken: () => Promise.reject(new KeysUnavailable(2)) } });
  });

  afterAll(async () => {
    for (const running of [broken, bare, keyless, storeless, read]) await running.close();
  });

  /** What this service can't be made to do: a store that fails, a token of an account nobody registered, no issuer. */
  async function sendToBroken(route: string, init: RequestInit = {}): Promise<void> {
    await send(api.url, route, { ...init, ...LONG_HEAD });
    await send(broken.url, route, { ...init, headers: as({ token: 'caller-42' }) });
    await send(bare.url, route, { ...init, headers: as({ token: 'caller-7' }) });
    await send(bare.url, route, { ...init, headers: as({ token: 'publisher' }) });
    await send(keyless.url, route, { ...init, headers: as({ token: 'caller-42' }) });
  }

  it('POST /api/webhooks', async () => {
    const route = 'POST /api/webhooks';
    const client = await api.account(1);
    const asked = (body: string, headers = as(client)) => send(api.url, route, { headers, body });
    await send(api.url, route);
    await asked(webhook('a'), as(client, { 'idempotency-key': 'k' }));
    await asked(webhook('a'), as(client, { 'idempotency-key': 'k' }));
    await asked(webhook('b'), as(client, { 'idempotency-key': 'k' }));
    await asked('{}');
    await asked(TOO_BIG);
    await asked('x', as(client, { 'content-type': 'text/plain' }));
    await asked('x');
    await send(api.url, 'GET /api/webhooks', { headers: as(client) });
    await sendToBroken(route, { body: webhook('a') });
    expectAllSeen(route);
  });

  it('GET /api/webhooks', async () => {
    const route = 'GET /api/webhooks';
    const client = await api.account(2);
    await client.post(webhook('a'));
    await send(api.url, route);
    await send(api.url, route, { headers: as(client) });
    await send(api.url, `${route}?at=x`, { headers: as(client) });
    await send(read.url, route, { headers: as({ token: 'caller-42' }) });
    await sendToBroken(route);
    expectAllSeen(route);
  });

  it('PATCH and DELETE /api/webhooks/{id}', async () => {
    const client = await api.account(3);
    await client.post(webhook('a'));
    const { id = 0 } = (await client.list()).webhooks[0] ?? {};
    const [patch, remove] = [`PATCH /api/webhooks/${id}`, `DELETE /api/webhooks/${id}`];
    const patched = (body: string, headers = as(client)) => send(api.url, patch, { headers, body });
    await send(api.url, patch);
    await send(api.url, remove);
    await patched('{"isActive":false}');
    await patched('{"isActive":1}');
    await patched(TOO_BIG);
    await send(api.url, remove, { headers: as(client) });
    await patched('{}', as(client, { 'content-type': 'text/plain' }));
    await patched('{}');
    await send(api.url, remove, { headers: as(client) });
    await sendToBroken(patch, { body: '{"isActive":true}' });
    await sendToBroken(remove);
    expectAllSeen('PATCH /api/webhooks/{id}', 'DELETE /api/webhooks/{id}');
  });

  const paths = ['/api/history', '/api/signing-secrets', '/api/portal-sessions', '/api/credentials'];
  it.each(paths)('GET %s', async (path) => {
    const client = await api.account(50 + paths.indexOf(path));
    await send(api.url, `GET ${path}`, { headers: as(client) });
    await send(api.url, `GET ${path}?limit=0`, { headers: as(client) });
    await send(api.url, `GET ${path}`);
    await send(read.url, `GET ${path}`, { headers: as({ token: 'caller-42' }) });
    await sendToBroken(`GET ${path}`);
    expectAllSeen(`GET ${path}`);
  });

  it('POST /api/signing-secrets and POST and DELETE /api/portal-sessions', async () => {
    const [rotate, open, end] = ['/api/signing-secrets', '/api/portal-sessions', '/api/portal-sessions/{id}'];
    const client = await api.account(6);
    const rotating = as(await api.account(8));
    const asked = async (body: string, type: Readonly<Record<string, string>> = {}) => {
      await send(api.url, `POST ${open}`, { headers: { ...as(client), ...type }, body });
      await send(api.url, `POST ${rotate}`, { headers: { ...rotating, ...type }, body });
    };
    for (let round = 0; round < 5; round += 1)
      await send(bare.url, `POST ${rotate}`, { headers: as({ token: 'caller-42' }) });
    await send(bare.url, `POST ${rotate}`, { headers: as({ token: 'caller-42' }) });
    for (let count = 0; count < 101; count += 1) {
      const body = JSON.stringify({ user: `user ${count % 20}` });
      await send(bare.url, `POST ${open}`, { headers: as({ token: 'caller-42' }), body });
    }
    await asked(TOO_BIG);
    await asked('{}', { 'content-type': 'text/plain' });
    await asked('{"can":[],"revokePrevious":1}');
    const { id } = await opened(client);
    await send(api.url, `DELETE ${end.replace('{id}', id)}`, { headers: as(client) });
    seen.add(`DELETE ${end} 200`);
    for (const route of [`POST ${rotate}`, `POST ${open}`, `DELETE ${end}`]) {
      await send(api.url, route);
      await send(api.url, route, { headers: as(client), ...(route.startsWith('POST') && { body: '{}' }) });
      await send(api.url, route, { headers: as(client), ...(route.startsWith('POST') && { body: '{}' }) });
      await sendToBroken(route, route.startsWith('POST') ? { body: '{}' } : {});
    }
    expectAllSeen(`POST ${rotate}`, `POST ${open}`, `DELETE ${end}`);
  });

  it('POST, GET and DELETE /console/session', async () => {
    const path = '/console/session';
    const client = await api.account(7);
    const session = await opened(client);
    const code = JSON.stringify({ code: codeIn(session) });
    const enter = (url: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
      send(url, `POST ${path}`, { headers, body });
    await enter(api.url, TOO_BIG);
    await enter(api.url, code, { 'content-type': 'text/plain' });
    await enter(api.url, code);
    await enter(api.url, code);
    await enter(broken.url, code);
    await send(api.url, `POST ${path}`, LONG_HEAD);
    const { cookie, sessionId } = await Browser.in(api.url, await opened(client));
    const named = { cookie, 'x-console': sessionId };
    for (const route of [`GET ${path}`, `DELETE ${path}`]) {
      await send(api.url, route);
      await send(api.url, route, { headers: named });
      await send(broken.url, route, { headers: named });
      await send(api.url, route, LONG_HEAD);
    }
    await send(storeless.url, `GET ${path}`, { headers: named });
    for (const failure of [new StoreUnavailable('planted'), new TooManyWaiting('planted'), null]) {
      const changeCredentials = () => (failure ? Promise.reject(failure) : Promise.resolve(ENDED));
      const odd = await startBareApi({
        parts: { changeCredentials, accounts: { session: async () => SESSION } as never },
      });
      await send(odd.url, `DELETE ${path}`, { headers: named });
      if (failure) await enter(odd.url, code);
      await odd.close();
    }
    expectAllSeen(...['POST', 'GET', 'DELETE'].map((method) => `${method} ${path}`));
  });

  it('POST /api/payment-events', async () => {
    const route = 'POST /api/payment-events';
    const publisher = await api.publisher('payments');
    const body = '{"id":"a","type":"cash_in","accountId":1}';
    const asked = (given: string, headers = as(publisher)) => send(api.url, route, { headers, body: given });
    await send(api.url, route);
    await asked(body);
    await asked('{}');
    await asked('x', as(publisher, { 'content-type': 'text/plain' }));
    await asked('x'.repeat(1024 * 1024 + 1));
    await send(api.url, route, { ...LONG_HEAD, body });
    for (const { url } of [bare, keyless]) await send(url, route, { headers: as({ token: 'caller-42' }), body });
    const broker = { publish: failing };
    const unpublishing = await startBareApi({
      parts: { publishing: { broker, topics: ['payment-events'], ...UNPACED } },
    });
    await send(unpublishing.url, route, { headers: as({ token: 'publisher' }), body });
    await unpublishing.close();
    expectAllSeen(route);
  });

  it('POST /oauth/token', async () => {
    const route = 'POST /oauth/token';
    const account = await api.registration.register(4, CONTEXT);
    const form = ({ clientId, clientSecret }: IssuedCredential) =>
      `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`;
    const asked = (body: string, more = {}) => send(api.url, route, { headers: { ...FORM_TYPE, ...more }, body });
    await asked(form(account));
    await asked(form({ ...account, clientSecret: 'x' }));
    await asked('grant_type=client_credentials');
    await asked('grant_type=password');
    await asked('');
    await asked(TOO_BIG);
    await asked('x', { 'content-encoding': 'gzip' });
    for (let round = 0; round < 2; round += 1) await asked(form(account));
    for (const { url } of [broken, storeless]) await send(url, route, { headers: FORM_TYPE, body: form(account) });
    await send(api.url, route, LONG_HEAD);
    expectAllSeen(route);
  });

  it('GET /.well-known/oauth-authorization-server', async () => {
    const route = 'GET /.well-known/oauth-authorization-server';
    const [method = '', path = ''] = route.split(' ');
    await send(api.url, route);
    const { status, headers, body } = await rawRequest(api.port, head(`${route} HTTP/1.1`, 'Host: /'));
    const given = { method, path, status, headers: new Headers([...headers]), body: JSON.parse(body) };
    await expectDocumented(api.url, given);
    expect([...seen, `${route} ${status}`]).toEqual(expect.arrayContaining([`${route} 200`, `${route} 400`]));
  });

  it('GET /openapi.json', async () => {
    await send(api.url, 'GET /openapi.json');
    await send(api.url, 'GET /openapi.json', LONG_HEAD);
    expect(seen).toContain('GET /openapi.json 200');
    expect(seen).toContain('GET /openapi.json 431');
  });
});

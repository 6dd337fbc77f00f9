import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { showOpenApi } from '../../src/http/documents/openapi-document.js';
import {
  compiler,
  fetchDocument,
  type Json,
  type OpenApiDocument,
  operationOf,
} from '../support/clients/documented.js';
import { scrape } from '../support/clients/scrape.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const METHODS = ['get', 'post', 'patch', 'delete', 'put'];

let api: RunningApi;
let document: OpenApiDocument;

beforeAll(async () => {
  api = await startApi({ RATE_LIMIT_WRITES: '6', RATE_LIMIT_TOKENS: '2' });
  document = await fetchDocument(api.url);
});

afterAll(() => api.close());

function every(node: unknown, key: string): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [...(name === key ? [value] : []), ...every(value, key)]);
}

test('every operation has a series of its responses with 500 and 503 before the first of them', async () => {
  const operations = Object.entries(document.paths).flatMap(([route, item]) =>
    METHODS.flatMap((method) => (method in item ? [{ route, method: method.toUpperCase() }] : [])),
  );
  const metrics = await scrape(api.adminUrl);
  const withoutSeries = ['500', '503'].flatMap((status) =>
    operations.filter((one) => metrics.value('account_webhooks_http_requests_total', { ...one, status }) !== 0),
  );
  expect(operations.length).toBeGreaterThan(40);
  expect(withoutSeries).toEqual([]);
});

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

  it('is one buffer for all: a response that is not read holds no copy', async () => {
    const { handle } = showOpenApi([], '1');
    const bodies = [{}, {}].map((ctx) => {
      void handle(ctx as Parameters<typeof handle>[0]);
      return (ctx as { body?: unknown }).body;
    });
    expect(bodies[0]).toBeInstanceOf(Buffer);
    expect(bodies[1]).toBe(bodies[0]);
  });

  it('has each path with the methods that it takes, and no others', async () => {
    for (const [path, described] of Object.entries(document.paths)) {
      const target = api.url + path.replaceAll(/\{\w+\}/g, '1');
      for (const method of METHODS) {
        const response = await fetch(target, { method: method.toUpperCase() });
        await response.arrayBuffer(); // fetch keeps the socket of a body over 64 KiB that nobody reads
        const { status } = response;
        expect({ path, method, isTaken: status !== 405 }).toEqual({ path, method, isTaken: method in described });
        expect(status).not.toBe(404);
      }
    }
  });
});

describe('the document', () => {
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

  it('without tokens of our own has no way to get one', async () => {
    const other = await startApi({ AUTH_JWKS_URL: 'http://127.0.0.1:1/jwks' });
    const { paths, components } = await fetchDocument(other.url);
    await other.close();
    expect(Object.keys(paths).filter((path) => path.includes('oauth'))).toEqual([]);
    expect(Object.keys(components.securitySchemes)).toEqual(['bearer', 'publisher', 'session']);
    expect(paths['/api/webhooks']?.post?.security).toEqual([{ bearer: [] }, { session: [] }]);
  });
});

describe('a body that the document takes the service takes, and one that it refuses is refused', () => {
  const header = { key: 'X-A', value: 'v' };
  const good = { url: 'https://shop.example.com/', eventType: 'cash_in', headers: [header] };
  const withHeader = (changes: object) => ({ ...good, headers: [{ ...header, ...changes }] });
  let bare: BareApi;

  beforeAll(async () => {
    bare = await startBareApi();
    await bare.client().post(good);
  });

  afterAll(() => bare.close());

  it.each<[string, unknown]>(
    [
      ...[good, { ...good, headers: undefined }, { ...good, headers: [] }, { ...good, more: 1 }, {}, [good], 'text'],
      ...[{ ...good, url: 1 }, { ...good, url: null }, { ...good, eventType: 'x' }, { ...good, headers: null }, null],
      ...[withHeader({ value: undefined }), withHeader({ key: 'X A' }), withHeader({ key: 'x'.repeat(65) })],
      ...[
        withHeader({ value: 'v ' }),
        withHeader({ value: 'x'.repeat(4_097) }),
        { ...good, headers: Array(6).fill(header) },
      ],
    ]
      .map((body): [string, unknown] => ['POST /api/webhooks', body])
      .concat(
        [{ isActive: true }, { isActive: false, more: 1 }, { isActive: 'true' }, { isActive: null }, {}, []].map(
          (body): [string, unknown] => ['PATCH /api/webhooks/1', body],
        ),
      ),
  )('%s %j', async (route, json) => {
    const [method = '', path = ''] = route.split(' ');
    const { requestBody } = operationOf(document, method, path) ?? {};
    const { schema = {} } = requestBody?.content['application/json'] ?? {};
    // Unlike an answer, a body may have fields that are not described.
    const validate = compiler(document, { isClosed: false })(schema);
    const { status } = await bare.client().send(method, path, { json });
    expect({ isTaken: status === 200 }).toEqual({ isTaken: validate(json) });
  });
});

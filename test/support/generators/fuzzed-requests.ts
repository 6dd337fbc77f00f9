/**
 * Requests generated from /openapi.json: as described, with one odd part, or with several. Placeholders stand for values that
 * only a running service knows: __TOKEN__, __CLIENT__, __SECRET__, __BASIC__ and __ID3__ of the requesting account;
 * __PUBLISHER__, a publisher's token; __FOREIGN__, an id of another account; __REVOKED__, a token that is no longer valid.
 * fuzz-client.ts fills them.
 */
import fc from 'fast-check';
import type { DocumentedOperation, Json, OpenApiDocument } from '../clients/documented.js';
import { anyBytes, broken, oddText, withOneChange } from './odd-json.js';
import { type Meanings, valuesOf } from './schema-values.js';

type Header = readonly [name: string, value: string];

export interface FuzzedRequest {
  /** The requesting account. */
  readonly as: number;
  readonly operationId: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly Header[];
  /** In latin1; null for none. */
  readonly body: string | null;
}

export interface FuzzedApi {
  readonly document: OpenApiDocument;
  readonly accounts: number;
  readonly meanings: Meanings;
  /** The operations that are asked for; absent: all. */
  readonly only?: ReadonlySet<string>;
}

interface Described extends FuzzedApi {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** Variants of a part: as described, and odd. */
interface Part<T> {
  readonly usual: fc.Arbitrary<T>;
  readonly odd: fc.Arbitrary<T>;
}

const PARTS = ['id', 'query', 'authorization', 'headers', 'type', 'body'] as const;
type PartName = (typeof PARTS)[number];

export function fuzzedRequests(api: FuzzedApi): fc.Arbitrary<FuzzedRequest> {
  const { paths, components } = api.document;
  const described = Object.entries(inlined(paths, components.schemas)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...api, path, method, operation })),
  );
  const asked = described.filter(({ operation, only }) => !only || only.has(operation.operationId));
  return fc.oneof(...asked.map((one) => ({ weight: weightOf(one.operation), arbitrary: requestsOf(one) })));
}

/** Operations that change something are chosen more often. */
function weightOf({ requestBody, security }: DocumentedOperation): number {
  if (requestBody) return 4;
  return security.length > 0 ? 3 : 1;
}

const oddParts: fc.Arbitrary<readonly PartName[]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant([]) },
  { weight: 4, arbitrary: fc.constantFrom(...PARTS).map((part) => [part]) },
  { weight: 1, arbitrary: fc.subarray([...PARTS], { minLength: 2 }) },
);

function requestsOf(described: Described): fc.Arbitrary<FuzzedRequest> {
  const { path, operation, accounts, meanings } = described;
  const [type, schema] = contentOf(operation);
  // The first account sends more requests than the others: it reaches its limit.
  const as = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(accounts - 1) });
  return oddParts.chain((odd) => {
    const pick = <T>(name: PartName, part: Part<T>) => (odd.includes(name) ? part.odd : part.usual);
    const drawn = {
      as,
      id: pick('id', IDS),
      query: pick('query', queries(described)),
      authorization: pick('authorization', authorizations(operation)),
      headers: pick('headers', extraHeaders(described)),
      type: pick('type', types(type)),
      body: pick('body', bodies(type, valuesOf(schema, meanings) as fc.Arbitrary<object>)),
    };
    return fc.record(drawn).map(({ as: asked, id, query, authorization, headers, type: about, body }) => ({
      as: asked,
      operationId: operation.operationId,
      method: described.method.toUpperCase(),
      target: path.replace(/\{\w+\}/g, () => id) + (query && `?${query}`),
      headers: [...authorization, ...headers, ...about],
      body: body?.toString('latin1') ?? null,
    }));
  });
}

const ODD_IDS = [
  ...['0', '-1', '1.5', '1e3', '01', '+1', '0x1', '9007199254740991', '9007199254740993', '99999999999999999999'],
  ...['%31', '%2f', '1%2ftest', '..', '.', '%2e%2e', '%00', '1%00', '%', '%ff', '%zz', '%ed%a0%80', '1;a=b', '1,2'],
  ...['', 'null', 'true', '__proto__', 'constructor', '*', '1%20', '1%0d%0aX:%20y', '__FOREIGN__', 'x'.repeat(1_000)],
];

const IDS: Part<string> = {
  usual: fc.nat(20).map((index) => `__ID${index}__`),
  odd: fc.oneof(fc.constantFrom(...ODD_IDS), oddText.map(percentEncoded)),
};

function queries({ operation, meanings }: Described): Part<string> {
  const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const fields = described.map(({ name, schema, required }) => {
    const value = valuesOf(schema, meanings, name).map((one): [string, string][] => [[name, String(one)]]);
    return required ? value : fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: value });
  });
  const usual = fc.tuple(...fields).map((pairs) => new URLSearchParams(pairs.flat()).toString());
  const names = fc.constantFrom(...described.map(({ name }) => name), '__proto__', 'limit[]', 'access_token', 'x');
  const odd = fc.array(fc.tuple(names, oddText), { minLength: 1, maxLength: 3 });
  return {
    usual,
    odd: fc.oneof(
      odd.map((pairs) => pairs.map(([name, value]) => `${name}=${percentEncoded(value)}`).join('&')),
      fc.constantFrom('?', '&', '=&=', '%', '%ff=%ff', 'limit=1&limit=2', 'limit=%31', `${'a=b&'.repeat(1_000)}`),
      // A correct query, repeated.
      usual.map((query) => `${query}&${query}`),
    ),
  };
}

const ODD_TOKENS = [
  ...['', 'Bearer', 'Bearer ', 'Bearer x', 'Bearer a.b.c', 'Bearer __TOKEN__x', 'Bearer x__TOKEN__', 'Basic __TOKEN__'],
  ...['Bearer __REVOKED__', 'Bearer __TOKEN__ __TOKEN__', 'Bearer,__TOKEN__', '__TOKEN__', 'Bearer "__TOKEN__"'],
  ...[
    'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiI0MiJ9.',
    'bearer   __TOKEN__ ',
    'Basic __BASIC__',
    'Basic Og==',
    'Basic =',
  ],
  ...['Basic eDp5', 'Basic __BASIC__x', 'Basic //8=', 'Negotiate x', 'Bearer \xff\xfe'],
];

function authorizations({ security }: DocumentedOperation): Part<readonly Header[]> {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  const isPublisher = schemes.includes('publisher');
  const bearer: Header[] = [['Authorization', `Bearer ${isPublisher ? '__PUBLISHER__' : '__TOKEN__'}`]];
  const basic: Header[] = [['authorization', 'Basic __BASIC__']];
  const one = fc.constantFrom(...ODD_TOKENS).map((value): Header[] => [['Authorization', value]]);
  return {
    usual:
      isPublisher || schemes.includes('bearer')
        ? fc.constant(bearer)
        : fc.constantFrom(...(schemes.length > 0 ? [[], basic] : [[]])),
    odd: fc.oneof(one, fc.constantFrom<Header[]>([], [...bearer, ...bearer], [...basic, ...bearer])),
  };
}

const ODD_KEYS = ['', '"', '""', '"a\\"b"', '"open', 'a b', 'a,b', 'x'.repeat(255), 'x'.repeat(256), '\xff', ' k '];
const ODD_HEADERS: readonly Header[] = [
  ...ODD_KEYS.map((value): Header => ['Idempotency-Key', value]),
  ...['a b', 'x'.repeat(129), '\xe9', '{}', '', 'sound-id'].map((value): Header => ['X-Request-Id', value]),
  ...['=', 'console=', 'console=1.ps_0000000000000000.x', 'console'].map((value): Header => ['Cookie', value]),
  ...['', '/', 'a b', 'user@host', '"', '\xff', ':80', '[x]'].map((value): Header => ['Host', value]),
  ...[['Accept', 'text/html'] as const, ['Accept-Encoding', 'nonsense;q=2'] as const, ['X-Console', '0'] as const],
  ...[['X-Forwarded-For', '127.0.0.1'] as const, ['X-HTTP-Method-Override', 'DELETE'] as const],
  ...[['Range', 'bytes=0-1'] as const, ['If-None-Match', '*'] as const, ['__proto__', 'x'] as const],
];

function extraHeaders({ operation, meanings }: Described): Part<readonly Header[]> {
  const [described] = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header');
  const none = fc.constant<Header[]>([]);
  const { name = '', schema = { const: '' }, required = false } = described ?? {};
  const known = valuesOf(schema, meanings, name).map((value): Header[] => [[name, asHeaderValue(String(value))]]);
  const odd = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...ODD_HEADERS) },
    { weight: 1, arbitrary: oddText.map((value): Header => ['Idempotency-Key', asHeaderValue(value)]) },
  );
  return {
    usual: described ? fc.oneof({ weight: required ? 0 : 4, arbitrary: none }, { weight: 1, arbitrary: known }) : none,
    odd: fc.array(odd, { minLength: 1, maxLength: 3 }),
  };
}

const FORM = 'application/x-www-form-urlencoded';
const ODD_TYPES = [
  ...[
    '',
    'text/plain',
    'application/json; charset=utf-16',
    'APPLICATION/JSON',
    'application/json;',
    'application/jsonp',
  ],
  ...['application/json, text/plain', 'application/merge-patch+json', `${FORM}; charset=\xff`, '*/*', FORM, ';', '/'],
  ...['multipart/form-data', 'application/json; charset="'],
];
/** The body does not have it. */
const ODD_ENCODINGS = ['gzip', 'deflate', 'br', 'identity', 'compress', 'gzip, gzip', '', 'x'];

function types(type: string | null): Part<readonly Header[]> {
  const usual: Header[] = type === null ? [] : [['Content-Type', type]];
  return {
    usual: fc.constant(usual),
    odd: fc.oneof(
      fc.constantFrom(...ODD_TYPES).map((value): Header[] => [['Content-Type', value]]),
      fc.constantFrom(...ODD_ENCODINGS).map((value): Header[] => [...usual, ['Content-Encoding', value]]),
      fc.constant([]),
    ),
  };
}

function contentOf({ requestBody }: DocumentedOperation): readonly [type: string | null, schema: Json] {
  const [[type, { schema }] = [null, { schema: { const: null } }]] = Object.entries(requestBody?.content ?? {});
  return [type, schema];
}

function bodies(type: string | null, values: fc.Arbitrary<object>): Part<Buffer | null> {
  if (type === null) return { usual: fc.constant(null), odd: fc.oneof(anyBytes, oversized) };
  const text = (value: object) =>
    type === FORM ? new URLSearchParams(value as Record<string, string>).toString() : JSON.stringify(value);
  const nearly = type === FORM ? values.map((value) => `${text(value)}&${text(value)}`) : withOneChange(values);
  return {
    usual: values.map((value) => Buffer.from(text(value))),
    odd: fc.oneof(
      { weight: 8, arbitrary: nearly.map((changed) => Buffer.from(changed)) },
      { weight: 2, arbitrary: broken(values.map(text)) },
      { weight: 1, arbitrary: anyBytes },
      { weight: 1, arbitrary: oversized },
    ),
  };
}

/** Around the size limit. */
const oversized = fc.integer({ min: -1, max: 2 }).map((over) => Buffer.alloc(65_536 + over, ' '));

/** Short enough to keep the whole head below the server's limit. */
function percentEncoded(text: string): string {
  return Array.from(Buffer.from(text).subarray(0, 500), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** The characters that a client can send in a header. */
function asHeaderValue(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 500);
}

/** A part of the document with each $ref to a schema replaced by that schema. None of them holds itself. */
function inlined<T>(node: T, schemas: Readonly<Record<string, unknown>>): T {
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== 'object' || value === null) return value;
    const all = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, replaced(inner)]));
    const name = /^#\/components\/schemas\/(.+)$/.exec(`${all.$ref}`)?.[1];
    if (name === undefined) return all;
    const { $ref: _, ...rest } = all;
    return { ...Object(replaced(schemas[name])), ...rest };
  };
  return replaced(node) as T;
}

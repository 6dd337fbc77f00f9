/**
 * Requests generated from /openapi.json: as described, with one odd part, or with several. Placeholders stand for
 * values that only a running service knows: __TOKEN__, __CLIENT__, __SECRET__, __BASIC__, __ID3__, and __SESSION__, __CODE__, __COOKIE__ and __ENTERED__ of the requesting
 * account; __PUBLISHER__, a publisher's token; __FOREIGN__, an id of another account; __REVOKED__, a token that is no longer valid; __LENGTH__, the body's
 * length in bytes. fuzz-client.ts fills them.
 */
import fc from 'fast-check';
import type { DocumentedOperation, OpenApiDocument } from '../clients/documented.js';
import { bodies, framed, framings, type Header, type Part, percentEncoded } from './fuzzed-bodies.js';
import { oddText } from './odd-json.js';
import { type Meanings, valuesOf } from './schema-values.js';

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

const PARTS = ['method', 'id', 'query', 'authorization', 'headers', 'framing', 'body'] as const;
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
  const { path, operation, accounts } = described;
  const isOfSessions = path.includes('/portal-sessions/');
  // The first account sends more requests than the others: it reaches its limit.
  const as = fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(accounts - 1) });
  return oddParts.chain((odd) => {
    const pick = <T>(name: PartName, part: Part<T>) => (odd.includes(name) ? part.odd : part.usual);
    const drawn = {
      as,
      method: pick('method', methods(described.method.toUpperCase())),
      id: pick('id', IDS),
      query: pick('query', queries(described)),
      authorization: pick('authorization', authorizations(operation)),
      headers: pick('headers', extraHeaders(described)),
      framing: pick('framing', framings(operation)),
      body: pick('body', bodies(operation, described.meanings)),
    };
    return fc.record(drawn).map(({ as: asked, method, id, query, authorization, headers, framing, body }) => ({
      as: asked,
      operationId: operation.operationId,
      method,
      target:
        path.replace(/\{\w+\}/g, () => (isOfSessions ? id.replace(/^__ID\d+__$/, '__SESSION__') : id)) +
        (query && `?${query}`),
      ...framed([...authorization, ...headers], framing, body),
    }));
  });
}

function methods(usual: string): Part<string> {
  return {
    usual: fc.constant(usual),
    odd: fc.constantFrom('LOCK', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND', 'M-SEARCH'),
  };
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
  const isPublisher = security.some(({ token: scopes }) => Array.isArray(scopes) && scopes.length > 0);
  const bearer: Header[] = [['Authorization', `Bearer ${isPublisher ? '__PUBLISHER__' : '__TOKEN__'}`]];
  const basic: Header[] = [['authorization', 'Basic __BASIC__']];
  const cookie: Header[] = [
    ['Cookie', '__COOKIE__'],
    ['X-Console', '__ENTERED__'],
  ];
  const one = fc.constantFrom(...ODD_TOKENS).map((value): Header[] => [['Authorization', value]]);
  return {
    usual: schemes.includes('bearer')
      ? fc.oneof({ weight: 9, arbitrary: fc.constant(bearer) }, { weight: 1, arbitrary: fc.constant(cookie) })
      : schemes.includes('session')
        ? fc.constant(cookie)
        : fc.constantFrom(...(schemes.length > 0 ? [[], basic] : [[]])),
    odd: fc.oneof(one, fc.constantFrom<Header[]>([], [...bearer, ...bearer], [...basic, ...bearer])),
  };
}

const ODD_HEADERS: readonly Header[] = [
  ...[
    '',
    '"',
    '""',
    '"a\\"b"',
    '"open',
    'a b',
    'a,b',
    'x'.repeat(255),
    'x'.repeat(256),
    '\xff',
    '__proto__',
    ' k ',
  ].map((value): Header => ['Idempotency-Key', value]),
  ...['a b', 'x'.repeat(129), '\xe9', '{}', '', 'sound-id'].map((value): Header => ['X-Request-Id', value]),
  ['X-Correlation-Id', '__proto__'],
  ['Accept', 'text/html'],
  ['Accept-Encoding', 'nonsense;q=2'],
  ['X-Forwarded-For', '127.0.0.1'],
  ['X-HTTP-Method-Override', 'DELETE'],
  ...['=', 'console=', 'console=__CODE__', 'console=1.ps_0000000000000000.x', 'console'].map(
    (value): Header => ['Cookie', value],
  ),
  ['X-Console', '0'],
  ['Range', 'bytes=0-1'],
  ['If-None-Match', '*'],
  ['__proto__', 'x'],
];

const ODD_HOSTS = ['', '/', 'a b', 'user@host', '"', '\xff', ':80', '[x]'].map((value): Header => ['Host', value]);

function extraHeaders({ operation, meanings }: Described): Part<readonly Header[]> {
  const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header');
  const [known] = described.map(({ name, schema }) =>
    valuesOf(schema, meanings, name).map((value): Header[] => [[name, asHeaderValue(String(value))]]),
  );
  const isRequired = described[0]?.required === true;
  const none = fc.constant<Header[]>([]);
  const any = oddText.map((value): Header => ['Idempotency-Key', asHeaderValue(value)]);
  return {
    usual: known ? fc.oneof({ weight: isRequired ? 0 : 4, arbitrary: none }, { weight: 1, arbitrary: known }) : none,
    odd: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...ODD_HEADERS) },
        { weight: 2, arbitrary: fc.constantFrom(...ODD_HOSTS) },
        { weight: 1, arbitrary: any },
      ),
      { minLength: 1, maxLength: 3 },
    ),
  };
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

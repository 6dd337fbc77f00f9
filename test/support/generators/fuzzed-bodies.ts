/** Bodies of fuzzed requests, and the headers that describe them. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { DocumentedOperation, Json } from '../clients/documented.js';
import { anyBytes, broken, oddValue, withOneChange } from './odd-json.js';
import { type Meanings, valuesOf } from './schema-values.js';

export type Header = readonly [name: string, value: string];

/** Variants of each part: as intended, and odd. */
export interface Part<T> {
  readonly usual: fc.Arbitrary<T>;
  readonly odd: fc.Arbitrary<T>;
}

export interface Framing {
  readonly type: string | null;
  readonly encoding: string | null;
  /** Whether the body really has the declared encoding. */
  readonly isHonest: boolean;
  readonly isChunked: boolean;
}

const ODD_TYPES = [
  ...[
    '',
    'text/plain',
    'application/json; charset=utf-16',
    'APPLICATION/JSON',
    'application/json;',
    'application/jsonp',
  ],
  ...[
    'application/json, text/plain',
    'application/merge-patch+json',
    'application/x-www-form-urlencoded; charset=\xff',
  ],
  ...['multipart/form-data', 'application/x-www-form-urlencoded', ';', '/', 'application/json; charset="', '*/*'],
];

export function framings({ requestBody }: DocumentedOperation): Part<Framing> {
  const [type = null] = Object.keys(requestBody?.content ?? {});
  return {
    usual: fc.constant({ type, encoding: null, isHonest: true, isChunked: false }),
    odd: fc.record({
      type: fc.oneof(fc.constant(type), fc.constantFrom(null, ...ODD_TYPES)),
      encoding: fc.option(fc.constantFrom('gzip', 'deflate', 'br', 'identity', 'compress', 'gzip, gzip', '', 'x')),
      isHonest: fc.boolean(),
      isChunked: fc.boolean(),
    }),
  };
}

const FORM = 'application/x-www-form-urlencoded';

export function bodies(operation: DocumentedOperation, meanings: Meanings): Part<Buffer | null> {
  const [[type, { schema }] = [null, { schema: {} as Json }]] = Object.entries(operation.requestBody?.content ?? {});
  if (type === null) return { usual: fc.constant(null), odd: fc.oneof(anyBytes, oversized) };
  const values = valuesOf(schema, meanings) as fc.Arbitrary<object>;
  return type === FORM ? forms(values) : jsons(values);
}

function jsons(values: fc.Arbitrary<object>): Part<Buffer> {
  const nearly = withOneChange(values);
  return {
    usual: values.map((value) => Buffer.from(JSON.stringify(value))),
    odd: fc.oneof(
      { weight: 8, arbitrary: nearly.map((text) => Buffer.from(text)) },
      { weight: 2, arbitrary: broken(values.map((value) => JSON.stringify(value))) },
      { weight: 1, arbitrary: anyBytes },
      { weight: 1, arbitrary: oversized },
    ),
  };
}

function forms(values: fc.Arbitrary<object>): Part<Buffer> {
  const usual = values.map((value) => new URLSearchParams(value as Record<string, string>).toString());
  const more = fc.tuple(usual, fc.constantFrom('grant_type', 'client_id', 'client_secret', '__proto__'), oddValue);
  const text = fc.oneof(
    more.map(([form, name, value]) => `${form}&${name}=${percentEncoded(String(JSON.stringify(value)))}`),
    usual.map((form) => `${form}&${form}`),
    fc.constantFrom('', '&', '=', '%', 'grant_type', 'grant_type=', 'grant_type=password', 'grant_type=%ff', '{}'),
  );
  const odd = fc.oneof(
    { weight: 8, arbitrary: text.map((form) => Buffer.from(form)) },
    broken(usual),
    anyBytes,
    oversized,
  );
  return { usual: usual.map((form) => Buffer.from(form)), odd };
}

/** Around the size limit. */
const oversized = fc.integer({ min: -1, max: 2 }).map((over) => Buffer.alloc(65_536 + over, ' '));

export function framed(headers: readonly Header[], framing: Framing, given: Buffer | null) {
  const { type, encoding, isHonest, isChunked } = framing;
  const bytes = given && encoding !== null && isHonest ? encoded(given, encoding) : given;
  const about: Header[] = [];
  if (type !== null) about.push(['Content-Type', type]);
  if (encoding !== null) about.push(['Content-Encoding', encoding]);
  if (bytes) about.push(isChunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', '__LENGTH__']);
  return { headers: [...headers, ...about], body: bytes?.toString('latin1') ?? null };
}

function encoded(bytes: Buffer, encoding: string): Buffer {
  if (encoding === 'gzip') return gzipSync(bytes, { level: 1 });
  if (encoding === 'deflate') return deflateSync(bytes, { level: 1 });
  return encoding === 'br' ? brotliCompressSync(bytes.subarray(0, 2_000)) : bytes;
}

/** Short enough to keep the whole head below the server's limit. */
export function percentEncoded(text: string): string {
  return Array.from(Buffer.from(text).subarray(0, 500), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

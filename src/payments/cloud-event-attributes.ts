/**
 * The attributes of a CloudEvent in binary mode: ce_ headers of the record, ce- headers of the request
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md, 3.1).
 */
import { isUtf8 } from 'node:buffer';
import type { NewRecord, RecordHeader } from '../ports/broker.js';
import type { CloudEvent } from './parsed-payment.js';

type WithHeaders = Pick<NewRecord, 'headers'>;

/** Of a request. */
export type Header = { readonly key: string; readonly value: string };

/** The request headers that describe the body. */
export interface Content {
  readonly type: string;
  /** ce-* */
  readonly attributes: readonly Header[];
}

/** Size limit as request headers. An intermediary must forward events of 64 KiB (CloudEvents 1.0.2, size limits). */
const MAX_ATTRIBUTE_BYTES = 64 * 1024;

export const JSON_CONTENT: Content = { type: 'application/json', attributes: [] };
const STRUCTURED: Content = { type: 'application/cloudevents+json; charset=utf-8', attributes: [] };

const CONTENT_TYPE = 'content-type';
const MEDIA_TYPE = /^[!#$%&'*+.^`|~\w-]+\/[!#$%&'*+.^`|~\w-]+[\t ]*(;[\t\x20-\x7e]*)?$/;
const ATTRIBUTE = /^ce_[a-z0-9]+$/;
/** The data is the body and its type is the content type: neither has a header of its own. */
const BODY = new Set(['ce_data', 'ce_datacontenttype']);
/** The attributes that identify and route the event. */
const DECISIVE = new Set(['ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_accountid']);

/** Why a binary-mode record can't be sent as declared; null if it can. */
export function attributesProblem(record: WithHeaders): string | null {
  const headers = record.headers.filter(isAttribute);
  const named = (name: string) => (DECISIVE.has(name) ? name : 'an extension');
  const broken = headers.find(([, value]) => !isUtf8(value));
  if (broken) return `${named(broken[0])} is not UTF-8`;
  const last = new Map(headers);
  const twice = headers.find(([name, value]) => DECISIVE.has(name) && !last.get(name)?.equals(value));
  if (twice) return `${twice[0]} is repeated with different values`;
  const contentType = contentTypeOf(record);
  if (contentType !== undefined && !MEDIA_TYPE.test(contentType)) return 'content-type is not a media type';
  const sent = requestHeaders(record).map(({ key, value }) => key.length + value.length);
  const bytes = sent.reduce((sum, one) => sum + one, contentType?.length ?? 0);
  return bytes > MAX_ATTRIBUTE_BYTES ? `the attributes have more than ${MAX_ATTRIBUTE_BYTES} bytes` : null;
}

/** By header name; the last one wins if a name repeats. */
export function attributesOf({ headers }: WithHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.filter(isAttribute).map(([name, value]) => [name, value.toString('utf8')]));
}

export function contentOf({ mode }: CloudEvent, record: WithHeaders): Content {
  switch (mode) {
    case 'structured':
      return STRUCTURED;
    case 'binary':
      return { type: contentTypeOf(record) ?? JSON_CONTENT.type, attributes: requestHeaders(record) };
    default:
      return mode satisfies never;
  }
}

/** A flat list. @param own the names of the webhook's registered headers, which replace these */
export function attributeHeaders({ attributes }: Content, own: ReadonlySet<string>): readonly string[] {
  return attributes.filter(({ key }) => !own.has(key)).flatMap(({ key, value }) => [key, value]);
}

function requestHeaders({ headers }: WithHeaders): Header[] {
  const last = new Map(headers.filter((header) => isAttribute(header) && !BODY.has(header[0])));
  return [...last].map(([name, value]) => ({ key: name.replace('_', '-'), value: percentEncoded(value) }));
}

/** Kafka compares header names by bytes, so only the lower-case name counts. */
export function contentTypeOf({ headers }: WithHeaders): string | undefined {
  return headers.findLast(([name, { length }]) => name === CONTENT_TYPE && length > 0)?.[1].toString('utf8');
}

export function hasAttribute({ headers }: WithHeaders, ...names: readonly string[]): boolean {
  return headers.some((header) => isAttribute(header) && names.includes(header[0]));
}

/** A header without a value, null on Kafka, is how a producer leaves an attribute out. */
function isAttribute([name, { length }]: RecordHeader): boolean {
  return length > 0 && ATTRIBUTE.test(name);
}

/** Percent-encodes the UTF-8 bytes other than printable ASCII, and space, quote and percent. */
function percentEncoded(value: Buffer): string {
  const encoded = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  return value.toString('latin1').replace(/[^\x21\x23\x24\x26-\x7e]/g, encoded);
}

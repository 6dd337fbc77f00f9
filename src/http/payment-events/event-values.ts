/**
 * The events of a request: each as the bytes that were sent, nothing is serialised again; and the attributes of a CloudEvent in
 * binary mode, from the headers of the request to those of a record
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md, 3.1, and
 * kafka-protocol-binding.md, 3.2).
 */
import type { IncomingMessage } from 'node:http';
import { linesOf, withoutMark } from '../../payments/ndjson.js';
import type { RecordHeader } from '../../ports/broker.js';
import { ApiError } from '../api-error.js';

export function* valuesOfLines(body: Buffer): Iterable<Buffer> {
  for (const { bytes } of linesOf(body)) yield bytes;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPEN, CLOSE] = [0x5b, 0x5d];
/** By byte: how it changes the depth. */
const DEPTH = new Int8Array(256);
for (const open of '[{') DEPTH[open.charCodeAt(0)] = 1;
for (const close of ']}') DEPTH[close.charCodeAt(0)] = -1;
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * What is between the brackets, cut at the commas outside of strings and brackets. The body is a JSON array if each of
 * these is JSON, which is left to its parser: parsing 1 MiB as a whole would stop the event loop for 100 ms.
 *
 * @throws ApiError 400 if there are no brackets around it
 */
export function* elementsOf(body: Buffer): Iterable<Buffer> {
  const array = trimmed(withoutMark(body));
  if (array[0] !== OPEN || array.at(-1) !== CLOSE) throw new ApiError({ code: 'body-not-array' });
  const all = trimmed(array.subarray(1, -1));
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < all.length; at += 1) {
    const byte = all[at] ?? 0;
    if (byte === QUOTE) at = endOfString(all, at);
    depth += DEPTH[byte] ?? 0;
    if (byte !== COMMA || depth !== 0) continue;
    yield trimmed(all.subarray(begin, at));
    begin = at + 1;
  }
  if (all.length > 0) yield trimmed(all.subarray(begin));
}

/** @param at of the opening quote. @returns that of the closing one: an even number of backslashes is before it */
function endOfString(text: Buffer, at: number): number {
  for (let end = text.indexOf(QUOTE, at + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function trimmed(text: Buffer): Buffer {
  let [begin, end] = [0, text.length];
  while (begin < end && SPACE.has(text[begin] ?? 0)) begin += 1;
  while (end > begin && SPACE.has(text[end - 1] ?? 0)) end -= 1;
  return text.subarray(begin, end);
}

const ATTRIBUTE = /^ce-([a-z0-9]+)$/;

/** A repeated one is kept as often: the parser of payment events judges it. */
export function binaryHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>) {
  const attributes: RecordHeader[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = ATTRIBUTE.exec(rawHeaders[at]?.toLowerCase() ?? '')?.[1];
    if (name) attributes.push([`ce_${name}`, attributeOf(rawHeaders[at + 1] ?? '')]);
  }
  const type = headers['content-type'];
  return type === undefined ? attributes : [...attributes, ['content-type', Buffer.from(type, 'latin1')] as const];
}

/** 3.1.3.2: unquoted if it is one quoted string, then percent-decoded once. Node reads a header as Latin-1. */
function attributeOf(header: string): Buffer {
  const text = /^"(?:[^"\\]|\\.)*"$/.test(header) ? header.slice(1, -1).replace(/\\(.)/g, '$1') : header;
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

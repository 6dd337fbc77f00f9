/**
 * The attributes of a CloudEvent in binary mode, from the headers of a request to those of a record
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md, 3.1, and
 * kafka-protocol-binding.md, 3.2).
 */
import type { IncomingMessage } from 'node:http';
import type { RecordHeader } from '../../ports/broker.js';

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

/** One without its end is matched as well: else it would be looked for again from each quote, which takes quadratic time. */
const QUOTED = /"((?:[^"\\]|\\.)*)("|\\?$)/g;

/** 3.1.3.2: unquoted, then percent-decoded once. Node reads the bytes of a header as Latin-1. */
function attributeOf(header: string): Buffer {
  const unquoted = header.replace(QUOTED, (all, quoted: string, end: string) =>
    end === '"' ? quoted.replace(/\\(.)/g, '$1') : all,
  );
  const bytes = unquoted.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

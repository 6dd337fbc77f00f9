/** A row of records as a record of the port, or as an unreadable batch: a damaged row blocks its topic, not the reader. */
import { createHash } from 'node:crypto';
import type { ReceivedRecord, RecordHeader, UnreadableBatch } from '../../ports/broker.js';

export interface StoredRecord {
  readonly offset: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: string;
  /** ms since the epoch */
  readonly timestamp: number;
}

const NO_HEADERS: readonly RecordHeader[] = [];

/** In order, names as text and values in base64, which preserves any bytes. */
export function encodedHeaders(headers: readonly RecordHeader[]): string {
  return headers.length === 0 ? '' : JSON.stringify(headers.map(([name, value]) => [name, value.toString('base64')]));
}

export function recordOf(topic: string, row: StoredRecord): ReceivedRecord | UnreadableBatch {
  const { offset, key, value, headers, timestamp } = row;
  try {
    if (![key, value].every((one) => one === null || Buffer.isBuffer(one))) throw new TypeError('no bytes');
    return { topic, partition: 0, offset, key, value, headers: decodedHeaders(headers), timestamp };
  } catch {
    const reason = 'its key or value is not bytes, or its headers are not pairs of texts';
    return { topic, partition: 0, first: offset, last: offset, codec: 'none', reason, digest: digestOf(row) };
  }
}

/** @throws SyntaxError, TypeError */
function decodedHeaders(headers: string): readonly RecordHeader[] {
  if (headers === '') return NO_HEADERS;
  const pairs = JSON.parse(headers) as readonly (readonly [string, string])[];
  return pairs.map(([name, value]) => [String(name), Buffer.from(value, 'base64')]);
}

function digestOf({ key, value, headers, timestamp }: StoredRecord): string {
  const hash = createHash('sha256');
  for (const part of [key, value, headers, timestamp]) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    hash.update(`${bytes.length} `).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

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
    mustBeBytes('key', key);
    mustBeBytes('value', value);
    return { topic, partition: 0, offset, key, value, headers: decodedHeaders(headers), timestamp };
  } catch (error) {
    const reason = error instanceof NotARecord ? error.message : 'its headers are not JSON';
    return { topic, partition: 0, first: offset, last: offset, codec: 'none', reason, digest: digestOf(row) };
  }
}

class NotARecord extends Error {
  override readonly name = 'NotARecord';
}

function mustBeBytes(name: string, value: unknown): void {
  if (value !== null && !Buffer.isBuffer(value)) throw new NotARecord(`its ${name} is not bytes`);
}

/** @throws SyntaxError, NotARecord */
function decodedHeaders(headers: unknown): readonly RecordHeader[] {
  if (headers === '') return NO_HEADERS;
  const pairs: unknown = JSON.parse(String(headers));
  if (!Array.isArray(pairs) || !pairs.every(isPair)) throw new NotARecord('its headers are not pairs of texts');
  return pairs.map(([name, value]) => [name, Buffer.from(value, 'base64')]);
}

function isPair(pair: unknown): pair is [string, string] {
  return Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string');
}

function digestOf({ key, value, headers, timestamp }: StoredRecord): string {
  const hash = createHash('sha256');
  for (const part of [key, value, headers, timestamp]) {
    const bytes = Buffer.isBuffer(part) ? part : Buffer.from(String(part));
    hash.update(`${bytes.length} `).update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
}

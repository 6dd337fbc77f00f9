/**
 * The records of a batch, format 2 (Kafka's protocol guide, "Record"): varints are zigzag.
 *
 *   length | attributes i8 | timestamp delta | offset delta | key | value | count of headers | (name, value) ...
 *
 * kafkajs's own decoder takes 19 s for a record with 8,000 headers, and loses their order: it folds them into an object.
 */
import type { KafkaMessage } from 'kafkajs';
import type { RecordHeader } from '../../../ports/broker.js';
import type { BatchHeader } from './batch-header.js';

/** Records and headers of one batch: each is an object in memory. */
const MOST_ITEMS = 500_000;
const NO_HEADERS = {};
const EMPTY = Buffer.alloc(0);

/** kafkajs passes this property on: the headers in order. */
export type RecordMessage = KafkaMessage & { readonly headerList: readonly RecordHeader[] };

/** @throws Error that says what is wrong */
export function decodeRecords(records: Buffer, header: BatchHeader): RecordMessage[] {
  const reader = new RecordReader(records);
  const messages: RecordMessage[] = [];
  for (let n = 0; n < header.count; n += 1) messages.push(recordOf(reader, header));
  if (!reader.isAtEnd) throw new Error('it has data after its last record');
  return messages;
}

function recordOf(reader: RecordReader, { first, last, firstTimestamp, appendTimestamp }: BatchHeader): RecordMessage {
  const end = reader.begin();
  reader.skipAttributes();
  const delta = reader.varint();
  const timestamp = appendTimestamp ?? firstTimestamp + delta;
  const offset = first + reader.varint();
  if (offset < first || offset > last) throw new Error('a record has an offset of another batch');
  const key = reader.bytes();
  const value = reader.bytes();
  const headerList = reader.headers();
  reader.mustBeAt(end);
  // One literal per record: 0.5 us each, against 9.7 with spread parts (side by side, on a busy machine).
  const message = {
    key,
    value,
    headers: NO_HEADERS,
    headerList,
    attributes: 0,
    timestamp: String(timestamp),
    offset: String(offset),
    isControlRecord: false,
  };
  return message;
}

class RecordReader {
  readonly #buffer: Buffer;
  #at = 0;
  #items = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#buffer.length;
  }

  /** @returns the end of the record */
  begin(): number {
    this.#count(1);
    const length = this.varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#buffer.length) throw new Error('a record is cut short');
    return end;
  }

  /** No attribute is in use. */
  skipAttributes(): void {
    this.#at += 1;
  }

  /** Zigzag, up to 2^53. */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#buffer[this.#at];
      if (byte === undefined || scale > 2 ** 49) throw new Error('a number is cut short, or too large');
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }

  /** Null if the length is -1. */
  bytes(): Buffer | null {
    const length = this.varint();
    if (length === -1) return null;
    const end = this.#at + length;
    if (length < 0 || end > this.#buffer.length) throw new Error('a field is cut short');
    const bytes = this.#buffer.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  headers(): RecordHeader[] {
    const count = this.varint();
    if (count < 0) throw new Error('it has a negative number of headers');
    this.#count(count);
    const headers: RecordHeader[] = [];
    for (let n = 0; n < count; n += 1) {
      const name = this.bytes();
      if (name === null) throw new Error('a header has no name');
      headers.push([name.toString('utf8'), this.bytes() ?? EMPTY]);
    }
    return headers;
  }

  mustBeAt(end: number): void {
    if (this.#at !== end) throw new Error('a record has a wrong length');
  }

  #count(items: number): void {
    this.#items += items;
    if (this.#items > MOST_ITEMS) throw new Error(`it has more than ${MOST_ITEMS} records and headers`);
  }
}

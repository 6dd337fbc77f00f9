/**
 * The records of a batch, format 2 (Kafka's protocol guide, "Record"): numbers are zigzag, of 32 bits; the timestamp's of 64.
 * Stamped in nanoseconds, a record has no time; those beside it have theirs, to a quarter of a second.
 *
 *   length | attributes i8 | timestamp delta | offset delta | key | value | count of headers | (name, value) ...
 *
 * kafkajs's own decoder takes 19 s for a record with 8,000 headers, and loses their order: it folds them into an object.
 */
import type { KafkaMessage } from 'kafkajs';
import type { RecordHeader } from '../../../ports/broker.js';
import { forEachInSlices } from '../../../time/in-slices.js';
import type { BatchHeader } from './batch-header.js';

/** Records and headers of one batch: each is an object in memory. */
const MOST_ITEMS = 500_000;
/** Decoded in 0.3 ms. */
const HEADERS_PER_STEP = 1_000;
/** Of the last byte of a number of 64 bits, seven in each. */
const LARGEST_SCALE = 2 ** 63;
const TOO_LARGE = 'a number is cut short, or too large';
const NO_HEADERS = {};
const EMPTY = Buffer.alloc(0);

/** kafkajs passes this property on: the headers in order. */
export type RecordMessage = KafkaMessage & { readonly headerList: readonly RecordHeader[] };

/** In slices: MOST_ITEMS take 200 ms. @throws Error that says what is wrong */
export async function decodeRecords(records: Buffer, header: BatchHeader): Promise<RecordMessage[]> {
  const reader = new RecordReader(records);
  const messages: RecordMessage[] = [];
  await forEachInSlices(recordsIn(reader, header), (message) => {
    if (message) messages.push(message);
    return true;
  });
  if (!reader.isAtEnd) throw new Error('it has data after its last record');
  return messages;
}

/** Undefined within a record that has many headers. One generator: with one for each record, decoding took twice as long. */
function* recordsIn(reader: RecordReader, header: BatchHeader): Iterable<RecordMessage | undefined> {
  for (let n = 0; n < header.count; n += 1) {
    const end = reader.begin();
    const timestamp = timestampOf(reader.varint(), header);
    const offset = offsetOf(reader, header);
    const key = reader.bytes();
    const value = reader.bytes();
    const headerList: RecordHeader[] = [];
    for (let left = reader.headerCount(); left > 0; left -= 1) {
      headerList.push(reader.header());
      if (headerList.length % HEADERS_PER_STEP === 0) yield undefined;
    }
    reader.mustBeAt(end);
    yield messageOf(key, value, headerList, timestamp, offset);
  }
}

function timestampOf(delta: number, { appendTimestamp, firstTimestamp }: BatchHeader): number {
  return appendTimestamp ?? firstTimestamp + delta;
}

function offsetOf(reader: RecordReader, { first, last }: BatchHeader): number {
  const offset = first + reader.varint();
  if (offset < first || offset > last) throw new Error('a record has an offset of another batch');
  return offset;
}

/** One literal per record: 0.5 us each, against 9.7 with spread parts (side by side, on a busy machine). */
function messageOf(
  key: Buffer | null,
  value: Buffer | null,
  headerList: readonly RecordHeader[],
  timestamp: number,
  offset: number,
): RecordMessage {
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

  begin(): number {
    this.#count(1);
    const length = this.varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#buffer.length) throw new Error('a record is cut short');
    // No attribute is in use.
    this.#at += 1;
    return end;
  }

  /** Zigzag: the lowest bit is the sign. Beyond 2^53 it is as near as a double comes: only a timestamp is that large. */
  varint(): number {
    const isNegative = ((this.#buffer[this.#at] ?? 0) & 1) === 1;
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#buffer[this.#at];
      if (byte === undefined || scale > LARGEST_SCALE) throw new Error(TOO_LARGE);
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return isNegative ? -(value + 1) / 2 : value / 2;
    }
  }

  bytes(): Buffer | null {
    const length = this.varint();
    if (length === -1) return null;
    const end = this.#at + length;
    if (length < 0 || end > this.#buffer.length) throw new Error('a field is cut short');
    const bytes = this.#buffer.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  headerCount(): number {
    const count = this.varint();
    if (count < 0) throw new Error('it has a negative number of headers');
    this.#count(count);
    return count;
  }

  header(): RecordHeader {
    const name = this.bytes();
    if (name === null) throw new Error('a header has no name');
    return [name.toString('utf8'), this.bytes() ?? EMPTY];
  }

  mustBeAt(end: number): void {
    if (this.#at !== end) throw new Error('a record has a wrong length');
  }

  #count(items: number): void {
    this.#items += items;
    if (this.#items > MOST_ITEMS) throw new Error(`it has more than ${MOST_ITEMS} records and headers`);
  }
}

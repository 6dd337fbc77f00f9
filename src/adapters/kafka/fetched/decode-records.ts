/**
 * The records of a batch, format 2 (Kafka's protocol guide, "Record"): numbers are zigzag, of 32 bits; the timestamp's of 64.
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
/** A number of seven bits a byte that a double holds exactly, and the longest of 64 bits. */
const EXACT_BYTES = 7;
const LONGEST_BYTES = 10;
const TOO_LARGE = 'a number is cut short, or too large';
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

function recordOf(reader: RecordReader, header: BatchHeader): RecordMessage {
  const { first, last } = header;
  const end = reader.begin();
  const timestamp = timestampOf(header, reader.varlong());
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

/** Exact, whatever the first record of the batch was stamped with: another one may have the right time. */
function timestampOf({ firstTimestamp, appendTimestamp }: BatchHeader, delta: number | bigint): number {
  if (appendTimestamp !== null) return appendTimestamp;
  const first = Number(firstTimestamp);
  const isExact = typeof delta === 'number' && Number.isSafeInteger(first);
  return isExact ? first + delta : Number(BigInt.asIntN(64, firstTimestamp + BigInt(delta)));
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

  /** Zigzag, up to 2^53. */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#buffer[this.#at];
      if (byte === undefined || scale > 2 ** 49) throw new Error(TOO_LARGE);
      this.#at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
  }

  /** Zigzag of 64 bits; a bigint if it is long: those cost more. */
  varlong(): number | bigint {
    const begun = this.#at;
    let end = begun;
    while (end - begun < LONGEST_BYTES && (this.#buffer[end] ?? 0) >= 0x80) end += 1;
    if (end - begun < EXACT_BYTES) return this.varint();
    if (end - begun === LONGEST_BYTES || end >= this.#buffer.length) throw new Error(TOO_LARGE);
    this.#at = end + 1;
    let value = 0n;
    for (let at = end; at >= begun; at -= 1) value = (value << 7n) | BigInt((this.#buffer[at] ?? 0) & 0x7f);
    return (value >> 1n) ^ -(value & 1n);
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

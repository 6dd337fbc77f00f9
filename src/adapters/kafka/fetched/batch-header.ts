/**
 * The header of a record batch, format 2 (Kafka's protocol guide, "Record Batch"):
 *
 *   0 base offset i64 | 8 length i32, of what follows | 12 leader epoch i32 | 16 magic i8 | 17 CRC-32C u32, of what follows
 *   21 attributes i16 | 23 last offset delta i32 | 27 first, 35 max timestamp i64 | 43 producer id i64 | 51 producer epoch i16
 *   53 base sequence i32 | 57 count of records i32 | 61 records
 */
import { crc32c } from '../kafkajs-repairs/kafkajs-internals.js';
import { CODEC_NAMES } from './codecs.js';

const CODEC_MASK = 0x07;
const LOG_APPEND_TIME = 0x08;
const IN_TRANSACTION = 0x10;
const CONTROL = 0x20;

export const MAGIC = 2;
export const MAGIC_AT = 16;
const CRC_AT = 17;
export const HEADER_BYTES = 61;

export interface BatchHeader {
  /** Its records' offsets are within this range; compaction may have removed the first and the last record. */
  readonly first: number;
  readonly last: number;
  /** Index in CODEC_NAMES. */
  readonly codec: number;
  readonly isTransactional: boolean;
  /** Contains transaction markers instead of records. */
  readonly isControl: boolean;
  readonly producerId: bigint;
  /** ms since the epoch, at delta 0; any 64 bits, in a double. */
  readonly firstTimestamp: number;
  /** For all records, if the broker stamped them; null if each has its own. */
  readonly appendTimestamp: number | null;
  readonly count: number;
}

export function headerOf(batch: Buffer): BatchHeader {
  const attributes = batch.readInt16BE(21);
  const first = Number(batch.readBigInt64BE(0));
  return {
    first,
    last: first + batch.readInt32BE(23),
    codec: attributes & CODEC_MASK,
    isTransactional: (attributes & IN_TRANSACTION) !== 0,
    isControl: (attributes & CONTROL) !== 0,
    producerId: batch.readBigInt64BE(43),
    firstTimestamp: Number(batch.readBigInt64BE(27)),
    appendTimestamp: attributes & LOG_APPEND_TIME ? Number(batch.readBigInt64BE(35)) : null,
    count: batch.readInt32BE(57),
  };
}

/** The valid range of a batch: it ends at or after `from`, and before `below`. */
export interface Room {
  /** The fetched offset, or the offset after the previous batch. */
  readonly from: number;
  /** Where the next batch begins, if that is plausible; else the bound of all offsets. */
  readonly below: number;
  /** Of a fetch: it may start before the fetched offset. */
  readonly isFirst: boolean;
}

/**
 * Hazard: neither kafkajs nor the serving broker verifies the checksum, and it doesn't cover base offset, length and magic.
 * Damaged data would be signed and sent to receivers, or skipped. @throws Error that says what is wrong
 */
export function mustBeSound(batch: Buffer, room: Room): void {
  if (batch.readInt8(MAGIC_AT) !== MAGIC) throw new Error('its format is unknown');
  if (batch.length < HEADER_BYTES) throw new Error('it is too short');
  if (crc32c(batch.subarray(CRC_AT + 4)) >>> 0 !== batch.readUInt32BE(CRC_AT)) {
    throw new Error('its checksum does not match');
  }
  const header = headerOf(batch);
  if (!isWithin(header, room)) throw new Error('its offsets are inconsistent');
  if (CODEC_NAMES[header.codec] === undefined) throw new Error('its codec is unknown');
}

export function isWithin(
  { first, last }: Pick<BatchHeader, 'first' | 'last'>,
  { from, below, isFirst }: Room,
): boolean {
  return first <= last && last >= from && last < below && (isFirst || first >= from);
}

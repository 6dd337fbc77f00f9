/**
 * Batches of records as a partition holds them, format 2 (Kafka's protocol guide, "Record Batch"):
 *
 *   0 base offset i64 | 8 length i32, of what follows | 12 leader epoch i32 | 16 magic i8 | 17 CRC-32C u32, of what follows
 *   21 attributes i16 | 23 last offset delta i32 | 27 first, 35 max timestamp i64 | 43 producer id i64 | ... | 61 records
 *
 * Hazard: kafkajs looks at no checksum, and cuts a field that is too long at the end of its buffer. What was damaged would
 * be sent to receivers, signed.
 */
import { createHash } from 'node:crypto';
import type { KafkaMessage } from 'kafkajs';
import type { UnreadableBatch } from '../../../ports/broker.js';
import { CODEC_NAMES } from './codecs.js';
import { crc32c, Decoder, decodeBatch, decodeOldMessages } from './kafkajs-internals.js';

const LENGTH_AT = 8;
const LENGTH_ENDS = 12;
const MAGIC_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const LAST_DELTA_AT = 23;
const MAX_TIMESTAMP_AT = 35;
const PRODUCER_AT = 43;
const RECORDS_AT = 61;
const MAGIC = 2;
const CODEC_MASK = 0x07;
const IN_TRANSACTION = 0x10;

/** A batch that can't be read, in its place among the messages of a partition, under the offset of its last record. */
export type UnreadableMessage = KafkaMessage & { readonly unreadable: Omit<UnreadableBatch, 'topic' | 'partition'> };

export function isUnreadable(message: KafkaMessage): message is UnreadableMessage {
  return 'unreadable' in message;
}

/** @param end what the next record to be published will get: no offset of the batches is as high */
export async function messagesOf(set: Buffer, end: number): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = [];
  for (let batch = nextBatch(set); batch; batch = nextBatch(batch.behind)) {
    const below = offsetOf(batch.behind) ?? end;
    // Not spread into one call: a batch may have more records than a call has arguments.
    for (const message of await decoded(batch.bytes, below)) messages.push(message);
  }
  // Since version 3 a fetch has one batch whole, or nothing.
  return set.length > 0 && messages.length === 0 && !nextBatch(set)
    ? [refusal('a batch has no sound length')]
    : messages;
}

/** Where the broker, or a length, keeps everything from the fetched offset on from being read. Under the highest offset. */
export function refusal(reason: string): UnreadableMessage {
  const nowhere = Number.MAX_SAFE_INTEGER;
  const what = { first: nowhere, last: nowhere, codec: 'unknown', reason, digest: null };
  return mark(what, '0', { producerId: '-1', inTransaction: false });
}

export function refusalIn(messages: readonly KafkaMessage[]): UnreadableMessage | undefined {
  return messages.filter(isUnreadable).find(({ unreadable: { digest } }) => digest === null);
}

/** Null at the end, and where the last batch did not come whole: it comes with the next fetch. */
function nextBatch(set: Buffer): { readonly bytes: Buffer; readonly behind: Buffer } | null {
  if (set.length <= MAGIC_AT) return null;
  const size = LENGTH_ENDS + set.readInt32BE(LENGTH_AT);
  if (size <= MAGIC_AT || size > set.length) return null;
  return { bytes: set.subarray(0, size), behind: set.subarray(size) };
}

function offsetOf(batch: Buffer): number | null {
  return batch.length < LENGTH_AT ? null : Number(batch.readBigInt64BE(0));
}

async function decoded(batch: Buffer, below: number): Promise<KafkaMessage[]> {
  const magic = batch.readInt8(MAGIC_AT);
  try {
    // Of before Kafka 0.11, each a batch of its own here: offset and size stand where a batch has them.
    if (magic === 0 || magic === 1) return await decodeOldMessages(new Decoder(batch), batch.length);
    mustBeSound(batch);
    return (await decodeBatch(new Decoder(batch))).records;
  } catch (error) {
    return [magic === MAGIC && batch.length >= RECORDS_AT ? unreadable(batch, below, error) : unknown(batch, error)];
  }
}

/** @throws Error that says what is wrong */
function mustBeSound(batch: Buffer): void {
  if (batch.readInt8(MAGIC_AT) !== MAGIC) throw new Error('its format is unknown');
  if (batch.length < RECORDS_AT) throw new Error('it is too short');
  if (crc32c(batch.subarray(ATTRIBUTES_AT)) >>> 0 !== batch.readUInt32BE(CRC_AT)) {
    throw new Error('its checksum does not fit');
  }
  if (CODEC_NAMES[codecOf(batch)] === undefined) throw new Error('its codec is unknown');
}

function codecOf(batch: Buffer): number {
  return batch.readInt16BE(ATTRIBUTES_AT) & CODEC_MASK;
}

/** A damaged header may name any last offset: none is taken that is another batch's. */
function unreadable(batch: Buffer, below: number, error: unknown): UnreadableMessage {
  const first = Number(batch.readBigInt64BE(0));
  const last = Math.max(first, Math.min(first + batch.readInt32BE(LAST_DELTA_AT), below - 1));
  const codec = CODEC_NAMES[codecOf(batch)] ?? `number ${codecOf(batch)}`;
  const what = { first, last, codec, reason: reasonOf(error), digest: digestOf(batch) };
  const context = {
    producerId: String(batch.readBigInt64BE(PRODUCER_AT)),
    inTransaction: (batch.readInt16BE(ATTRIBUTES_AT) & IN_TRANSACTION) !== 0,
  };
  return mark(what, String(batch.readBigInt64BE(MAX_TIMESTAMP_AT)), context);
}

function unknown(batch: Buffer, error: unknown): UnreadableMessage {
  const first = Number(batch.readBigInt64BE(0));
  const codec = `format ${batch.readInt8(MAGIC_AT)}`;
  const what = { first, last: first, codec, reason: reasonOf(error), digest: digestOf(batch) };
  return mark(what, '0', { producerId: '-1', inTransaction: false });
}

function mark(unreadable: UnreadableMessage['unreadable'], timestamp: string, batchContext: object): UnreadableMessage {
  const message = { key: null, value: null, timestamp, attributes: 0, offset: String(unreadable.last), headers: {} };
  // kafkajs itself looks at the context: what is of an aborted transaction nobody is to read.
  return { ...message, ...{ isControlRecord: false, batchContext }, unreadable };
}

/** The same batch again gives the same, whoever leads its partition then: another one of the same offsets does not. */
function digestOf(batch: Buffer): string {
  return createHash('sha256').update(batch.subarray(MAGIC_AT)).digest('hex').slice(0, 32);
}

/** One line, and no more of it than a log or a header takes. */
function reasonOf(error: unknown): string {
  const text = (error as Partial<Error> | null)?.message ?? String(error);
  return (text.split('\n')[0] ?? '').slice(0, 200);
}

/** The batches that a fetch returned for one partition, as messages in offset order. */
import type { KafkaMessage } from 'kafkajs';
import { HEADER_OVERHEAD_BYTES } from '../../../ports/broker.js';
import {
  type BatchHeader,
  HEADER_BYTES,
  headerOf,
  isWithin,
  MAGIC,
  MAGIC_AT,
  mustBeSound,
  type Room,
} from './batch-header.js';
import { CODEC_NAMES, unpack } from './codecs.js';
import { decodeRecords } from './decode-records.js';
import { digestOf, isUnreadable, passed, reasonOf, type UnreadableMessage, unreadable } from './marks.js';

const LENGTH_AT = 8;
const LENGTH_ENDS = 12;
/** Of a marker: version i16, then 0 for an abort. */
const ABORT_MARKER = 0;

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

export interface Fetched {
  readonly from: number;
  /** Exclusive upper bound of the batches' offsets. */
  readonly end: number;
  readonly aborted: readonly AbortedTransaction[];
  /** How many bytes of records this fetch may still hold. At zero, the rest is left for the next fetch. */
  readonly budget: { bytes: number };
}

/** Since version 3 of the request a fetch returns a whole batch, or nothing: false if the first one's length is invalid. */
export function beginsWithBatch(set: Buffer): boolean {
  return set.length === 0 || nextBatch(set) !== null;
}

/**
 * The set ends with an unreadable batch: nothing behind it is read before it is passed, and a transaction marker in it could
 * decide whether the records behind it were aborted.
 */
export async function messagesOf(set: Buffer, fetched: Fetched): Promise<KafkaMessage[]> {
  const messages: KafkaMessage[] = [];
  const aborted = new AbortedProducers(fetched.aborted);
  let { from } = fetched;
  for (let batch = nextBatch(set); batch && fetched.budget.bytes > 0; batch = nextBatch(batch.behind)) {
    const next = offsetOf(batch.behind);
    const below = next > from && next <= fetched.end ? next : fetched.end;
    const room = { from, below, isFirst: messages.length === 0 };
    // Not spread into one call: a batch may have more records than a call takes arguments.
    for (const message of await read(batch.bytes, { room, aborted, budget: fetched.budget })) messages.push(message);
    const last = messages.at(-1);
    if (!last || isUnreadable(last)) return messages;
    from = Number(last.offset) + 1;
  }
  return messages;
}

/** Null at the end, and if the last batch is truncated: it comes with the next fetch. */
function nextBatch(set: Buffer): { readonly bytes: Buffer; readonly behind: Buffer } | null {
  if (set.length <= MAGIC_AT) return null;
  const size = LENGTH_ENDS + set.readInt32BE(LENGTH_AT);
  if (size <= MAGIC_AT || size > set.length) return null;
  return { bytes: set.subarray(0, size), behind: set.subarray(size) };
}

function offsetOf(batch: Buffer): number {
  return batch.length < LENGTH_AT ? -1 : Number(batch.readBigInt64BE(0));
}

interface Reading {
  readonly room: Room;
  readonly aborted: AbortedProducers;
  readonly budget: { bytes: number };
}

async function read(batch: Buffer, { room, aborted, budget }: Reading): Promise<KafkaMessage[]> {
  try {
    mustBeSound(batch, room);
    const header = headerOf(batch);
    if (aborted.has(header)) return [passed(header.last)];
    const records = await unpack(header.codec, batch.subarray(HEADER_BYTES));
    budget.bytes -= records.length;
    const decoded = await decodeRecords(records, header);
    for (const { headerList } of decoded) budget.bytes -= headerList.length * HEADER_OVERHEAD_BYTES;
    const messages: KafkaMessage[] = decoded;
    if (header.isControl) aborted.marker(header, messages);
    if (header.isControl) return [passed(header.last)];
    if (Number(messages.at(-1)?.offset ?? -1) < header.last) messages.push(passed(header.last));
    return messages;
  } catch (error) {
    return [unreadableBatch(batch, room, error)];
  }
}

function unreadableBatch(batch: Buffer, room: Room, error: unknown): UnreadableMessage {
  const magic = batch.readInt8(MAGIC_AT);
  const header = magic === MAGIC && batch.length >= HEADER_BYTES ? headerOf(batch) : null;
  const codec = header ? (CODEC_NAMES[header.codec] ?? `number ${header.codec}`) : `format ${magic}`;
  return unreadable({ ...offsetsOf(header, room), codec, reason: reasonOf(error), digest: digestOf(batch) });
}

/**
 * A damaged header may claim any offsets, and records passed by mistake are lost: a header counts only where it begins at the
 * right offset, and of its two statements the lower last offset. A reader that passes too few meets the same batch again.
 */
function offsetsOf(header: BatchHeader | null, room: Room): { readonly first: number; readonly last: number } {
  const { from, isFirst } = room;
  if (header) {
    const { first, count } = header;
    const last = Math.min(header.last, first + count - 1);
    const isAnchored = isFirst ? first <= from : first === from;
    if (isAnchored && isWithin({ first, last }, room)) return { first, last };
  }
  return { first: from, last: from };
}

/** The producers in an aborted transaction, tracked batch by batch, as Java's consumer does. */
class AbortedProducers {
  readonly #begun: AbortedTransaction[];
  readonly #now = new Set<bigint>();

  constructor(transactions: readonly AbortedTransaction[]) {
    this.#begun = [...transactions].sort((one, other) => one.firstOffset - other.firstOffset);
  }

  has({ last, producerId, isTransactional, isControl }: BatchHeader): boolean {
    for (let next = this.#begun[0]; next && next.firstOffset <= last; next = this.#begun[0]) {
      this.#now.add(next.producerId);
      this.#begun.shift();
    }
    return isTransactional && !isControl && this.#now.has(producerId);
  }

  marker({ producerId }: BatchHeader, [marker]: readonly KafkaMessage[]): void {
    if (marker?.key && marker.key.length >= 4 && marker.key.readInt16BE(2) === ABORT_MARKER)
      this.#now.delete(producerId);
  }
}

/**
 * The broker: topics of records, read by consumer groups.
 *
 * Words: a *topic* holds *records* in partitions; a record has an *offset*, its number within its partition. Records with
 * the same key share a partition. A *group* divides its topics among its consumers and commits, per partition, the offset
 * before which every record is done.
 *
 * Semantics that every adapter keeps (test/contract/broker-contract.ts):
 * - publish resolves when all its records are durable. A rejection means "unknown": some may be stored. Records of one call
 *   keep their order within a partition.
 * - A new group starts at the oldest record, and commits that offset. publish and consume create missing topics.
 * - consume hands every record to the handler at least once, even after a crash. Within a partition, first handler calls
 *   follow offset order, with up to `inFlight` handler promises unsettled at a time.
 * - turnsByKey: within a partition, first handler calls follow offset order for each key, and keys take turns: those within
 *   their usual rate, those that had none waiting, and the others, a dozen records each. None waits forever for the others. That
 *   holds among the records that the adapter has read ahead, at most 30,000 from the oldest waiting one on, or a batch more: no
 *   record is overtaken by more.
 * - No new record is started while started, unfinished records hold `inFlightBytes` (heldBytes: key, value and headers). One
 *   record may always start, whatever its size, and only the last one may exceed the limit.
 * - Handler promise fulfilled: the record is done. Rejected: the record is neither done nor skipped, and is redelivered
 *   after a pause that grows from 0.1 s to 5 s. A pausing record doesn't count towards `inFlight`, so others go on; its
 *   bytes stay in memory and count. An adapter may start nothing new while 1,000 or more records pause.
 * - Only the contiguous done prefix of a partition is committed: after a crash, records done behind an unfinished one are
 *   redelivered. After a consumer joins, leaves or closes in order they are not, as far as the broker can store them.
 * - mayBegin: while it returns false, no new record is started; rejected records are still redelivered. The consumer calls
 *   it again when a record is done, and every few ms. With turnsByKey it is asked separately for records of keys within their
 *   usual rate, that at which their records were handed out lately without waiting: those may begin while others may not.
 * - accept is called when the consumer receives a record, before the record waits: so what it decodes is decoded once, however
 *   long the record waits and however often it is redelivered after a rejection. Records that the broker sends again, as after a
 *   rebalance, are accepted again.
 * - notBefore: a record that is not yet due blocks the records behind it in its partition (a retry topic is first in, first
 *   out), but no other partition or topic. Waiting records count towards no limit.
 * - An unreadable batch (damaged, or in an unknown encoding) is handed to onUnreadable as a record is to the handler: its
 *   promise makes the batch done, or has it handed out again, and the records behind it go on. Without onUnreadable the
 *   batch is done. After 20 such batches in a row a partition waits for a minute before each. follow gives the batch and logs it.
 * - follow reads every record from the given positions on, and those published later, at the partitions' leaders and in no
 *   group, until the signal aborts. Within a partition, pages and their items are in offset order. A partition without a
 *   position is read from its oldest record. Records that retention removed are passed; if it overtakes a reader, the next
 *   follow passes them, and this one may end with BrokerUnavailable. A topic whose record at
 *   `position.before` is another one, or is missing although older ones are there, was recreated: TopicRecreated. The next
 *   page is read while the reader has one, and no more. While the broker can't read a partition on, follow rejects
 *   with BrokerUnavailable.
 * - A record published on this machine reaches a waiting consumer within 20 ms.
 * - keep: from then on the record holds this content in memory, and a redelivery to the same handler has it too.
 * - Two consumers of a group never have the same record at once, except across a crash or a rebalance. A handler can ask
 *   whether its consumer still owns the record, and gets false before another consumer receives it: work started after true
 *   may be done twice, work still queued in the handler need not be.
 * - Consumer.stop: no more handler calls, not even for rejected records. Consumer.close: stop, wait for the open promises
 *   (ending them in time is the handler's job), commit, release the partitions.
 * - Closing the broker closes its consumers. Both close methods are idempotent. Later calls reject with BrokerUnavailable.
 */
export interface Broker {
  /** @returns the records' offsets, in their order @throws BrokerUnavailable, RecordRefused */
  publish(topic: string, records: readonly NewRecord[]): Promise<readonly number[]>;
  /** @throws BrokerUnavailable if the consumer can't be started */
  consume(options: ConsumeOptions): Promise<Consumer>;
  /** The topic has to exist. @throws BrokerUnavailable if it can't be read for 20 s; TopicRecreated */
  follow(topic: string, positions: Positions, options: FollowOptions): AsyncIterable<FollowedPage>;
  /** The record at this place; null: the topic no longer has it, or what is there can't be read. @throws BrokerUnavailable */
  read(topic: string, partition: number, offset: number): Promise<ReceivedRecord | null>;
  /** By partition, the group's committed offset: everything before it is done. Partitions without a commit are left out. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** By partition, what the group has done at or after its committed offset. Partitions without anything are left out. */
  completedAhead(group: string, topic: string): Promise<ReadonlyMap<number, CompletedAhead>>;
  /** By existing partition, the offsets that the topic retains. Missing topic: none. */
  extent(topic: string): Promise<ReadonlyMap<number, Extent>>;
  listTopics(): Promise<string[]>;
  ensureTopics(topics: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Work done in a partition at or after the committed offset. */
export interface CompletedAhead {
  /** The offsets of records that are done. */
  readonly records: ReadonlySet<number>;
  /** By the offset of a record that is not done, its parts that are (RecordHold.partDone). */
  readonly parts: ReadonlyMap<number, ReadonlySet<number>>;
}

export type RecordHeader = readonly [name: string, value: Buffer];

export interface NewRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A name may occur twice: its values keep their order. Some brokers keep no order among different names. */
  readonly headers: readonly RecordHeader[];
}

export interface ReceivedRecord extends NewRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** Publication time, ms since the epoch; NO_TIME if its publisher stamped it with what is no time, as nanoseconds. */
  readonly timestamp: number;
}

export const NO_TIME = -1;
/** The latest time that a Date can represent. */
const LATEST_TIME_MS = 8.64e15;

/** Whether a record's timestamp can be a time: neither negative nor nanoseconds. */
export function isTime(at: number): boolean {
  return at >= 0 && at <= LATEST_TIME_MS;
}

/** Records that were stored together and can't be read. */
export interface UnreadableBatch {
  readonly topic: string;
  readonly partition: number;
  /** The offsets of its first and last records, as far as known. */
  readonly first: number;
  readonly last: number;
  /** none, gzip, snappy, lz4, zstd, or a description of an unknown codec or format. */
  readonly codec: string;
  /** Why it can't be read, in one line. */
  readonly reason: string;
  /**
   * Digest of its bytes: in a recreated topic the same offsets have another digest.
   */
  readonly digest: string;
}

/** From the first retained offset to the offset of the next record: equal if nothing is retained. */
export interface Extent {
  readonly first: number;
  readonly next: number;
  /** Records from this offset on can't be read before a transaction ends; absent if all can be read. */
  readonly stable?: number;
}

/** The log message for an unreadable batch that a follower gives. */
export const SKIPPING = 'skipping an unreadable batch';

/** How far a reader has read a partition; it keeps them itself. */
export interface Position {
  /** The offset to read next. */
  readonly offset: number;
  /** The record that was read last: a recreated topic has another there. Null: none. */
  readonly before: Pick<ReceivedRecord, 'offset' | 'timestamp'> | null;
}

/** By partition. */
export type Positions = ReadonlyMap<number, Position>;

export interface FollowOptions {
  /** Ends the iteration, without an error. */
  readonly signal: AbortSignal;
  /** Without it: all, also those that are added later. */
  readonly partitions?: ReadonlySet<number>;
  /** Includes records of open and aborted transactions, and those held back. */
  readonly uncommitted?: boolean;
  /** While records arrive, few of them may be delayed up to this long, ms, to be delivered together. If absent, the adapter's own. */
  readonly gatherMs?: number;
}

/** What a read of one partition gave. */
export interface FollowedPage {
  readonly partition: number;
  /** Perhaps none. */
  readonly items: readonly (ReceivedRecord | UnreadableBatch)[];
  /** Behind the items. */
  readonly position: Position;
  /** The offset of the next record to be published. */
  readonly end: number;
}

/** The position behind items of a partition. @param next the offset to read next */
export function positionBehind(from: Position, items: FollowedPage['items'], next: number): Position {
  const last = items.findLast((item): item is ReceivedRecord => 'offset' in item);
  const before = last ? { offset: last.offset, timestamp: last.timestamp } : from.before;
  return { offset: Math.max(next, from.offset), before };
}

export interface ConsumeOptions {
  readonly topics: readonly string[];
  readonly group: string;
  /** How many handler promises may be unsettled at a time, across all topics. 0: it only owns partitions; it takes and commits nothing. */
  readonly inFlight: number;
  /** How many bytes started, unfinished records may hold; unlimited without it. */
  readonly inFlightBytes?: number;
  readonly accept: AcceptRecord;
  /** Whether a record may start now; after a yes it does. Called for each record, so it must be cheap. Without it, always. */
  readonly mayBegin?: (isUsual: boolean) => boolean;
  /** Whether keys take turns within a partition; without it, records wait for those before them. Not with notBefore. */
  readonly turnsByKey?: boolean;
  readonly onUnreadable?: (batch: UnreadableBatch) => Promise<void>;
}

/** Decodes a record. Must not throw. */
export type AcceptRecord = (record: ReceivedRecord) => AcceptedRecord;

export interface AcceptedRecord {
  /** When the record may be handed out, ms since the epoch; immediately without it. */
  readonly notBefore?: number;
  /** Called with the record's current content: hazard, a handler that refers to the accepted record keeps what `keep` replaces. */
  readonly handle: RecordHandler;
}

export type RecordHandler = (record: ReceivedRecord, hold: RecordHold) => Promise<void>;

/** A consumer's hold on a record that it handed out. */
export interface RecordHold {
  /**
   * False, permanently, once its partition moves to another consumer, and before that consumer starts. A promise while
   * ownership is unknown, as during a rebalance: that takes a second, or as long as the broker is unreachable. Otherwise
   * cheap. Start the work right after true.
   */
  isOwn(): boolean | Promise<boolean>;
  /** Marks one part of a record, a whole number, as done: a redelivery needn't repeat it. */
  partDone(part: number): void;
  /** Known while this consumer has the record; to the next consumer after a planned rebalance, as far as there is room. */
  isPartDone(part: number): boolean;
  /** Replaces the record's content, as most of its parts are done. The caller must not hold the former one. */
  keep(content: NewRecord): void;
}

export interface Consumer {
  stop(): void;
  close(): Promise<void>;
  /** Whether it has the partition now. False while that is unknown, as during a rebalance, and before another consumer has it. */
  isOwner(topic: string, partition: number): boolean;
  /** From memory, or with one look-up per topic; never throws. */
  state(): ConsumerState;
  /** Fulfilled after close; rejected with BrokerUnavailable if the consumer died and can't recover by itself. */
  readonly closed: Promise<void>;
}

export interface ConsumerState {
  /** False while it has no connection to the broker, hasn't joined its group yet, or has not heard of it for 20 s. */
  readonly connected: boolean;
  /** Started, unfinished records, including those that wait for redelivery. */
  readonly inHand: number;
  /** The partitions it has now; none while other consumers of its group have them. */
  readonly partitions: readonly PartitionState[];
  /** Other applications in its group, a sentence each; absent for a broker whose groups nobody else can join. */
  readonly foreign?: readonly string[];
}

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** Published records, as far as known here, that are not committed. */
  readonly behind: number;
  /** The record that waits for the longest time, its time null if it has none; null if none has been read. */
  readonly head: { readonly publishedAt: number | null; readonly overdueMs: number } | null;
  /** Where the partition waits: the broker can't read on, or too many batches in a row are unreadable. Null if it does not wait. */
  readonly unreadable: { readonly offset: number; readonly reason: string } | null;
}

/** The broker is unreachable or does not answer in time: retry. */
export class BrokerUnavailable extends Error {
  override readonly name: string = 'BrokerUnavailable';
  readonly code: string = 'BROKER_UNAVAILABLE';
}

/** The topic was deleted and created again: the positions of its readers mean nothing. They start over. */
export class TopicRecreated extends BrokerUnavailable {
  override readonly name = 'TopicRecreated';
  override readonly code = 'TOPIC_RECREATED';
  constructor(topic: string) {
    super(`${topic} was recreated`);
  }
}

/** The server rejected our credentials, certificate or permissions. Retrying won't help. */
export class BrokerRefused extends BrokerUnavailable {
  override readonly name = 'BrokerRefused';
  override readonly code = 'BROKER_REFUSED';
}

/**
 * The topic's settings refuse this record: it is too large, or breaks a rule of the topic. The message has the reason,
 * and the size. Other records of the call may be stored.
 */
export class RecordRefused extends Error {
  override readonly name: string = 'RecordRefused';
  readonly code: string = 'RECORD_REFUSED';
}

/** The record's time is too far from the broker's clock: the clock of this machine is wrong, not the record. */
export class TimestampRefused extends RecordRefused {
  override readonly name = 'TimestampRefused';
  override readonly code = 'TIMESTAMP_REFUSED';
}

/** A header takes that much memory beside its text: an array, a string and a Buffer. */
export const HEADER_OVERHEAD_BYTES = 256;

/** The memory that a record holds. */
export function heldBytes({ key, value, headers }: NewRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, text] of headers) bytes += HEADER_OVERHEAD_BYTES + name.length + text.length;
  return bytes;
}

/** The last value of a header as text, or undefined. */
export function headerText({ headers }: Pick<NewRecord, 'headers'>, name: string): string | undefined {
  return headers.findLast(([key]) => key === name)?.[1].toString('utf8');
}

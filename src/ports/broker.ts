/**
 * The broker: topics of records, read by consumer groups.
 *
 * Words: a *topic* holds *records* in partitions; a record has an *offset*, its number within its partition. Records
 * of one key are in one partition. A *group* shares the work of its topics among its consumers and remembers, per
 * partition, up to where everything is done.
 *
 * Semantics that every adapter keeps (test/contract/broker-contract.ts):
 * - publish resolves when all its records are durable. A rejection means "unknown": some may be stored. Records of one
 *   call keep their order within a partition.
 * - A group that is new begins with the oldest record. Topics that are missing are created, by publish and consume too.
 * - consume hands every record to the handler at least once, whatever happens to the process. Within a partition,
 *   first calls of the handler are made in the order of offsets, up to `inFlight` of them unsettled at a time.
 * - Nothing new is begun while the values of the records that were begun and are not done have `inFlightBytes` together:
 *   one record always goes, however long it is, and only the last may go over.
 * - A handler's promise fulfilled: that record is done. Rejected: not done and not skipped; the handler is called with
 *   it again, after a pause that grows from 0.1 s to 5 s. While it pauses it does not count to `inFlight` and others go
 *   on; its bytes, which are held, do count. An adapter may begin nothing new while 1,000 or more pause.
 * - Only the contiguous done prefix of a partition is remembered: after a crash what was done behind an unfinished record
 *   comes again. In a planned rebalance (a consumer joins or leaves) it does not, as far as the broker has room to say so.
 * - mayBegin: while it says no, no further record is begun; one that was rejected comes again all the same. It is asked
 *   again when a record is done, and every few ms.
 * - notBefore: a record that is not yet due waits, and with it those behind it in its partition (a retry topic is
 *   first in, first out), but no other partition or topic. Waiting records count to no limit.
 * - A batch that can't be read (damaged, or packed in a way that is not known) stops its partition, and no other: behind
 *   it nothing is begun until onUnreadable's promise is fulfilled; then it is done like a record. Rejected, it is called
 *   again, after a pause that grows from 0.1 s to 5 s. Without onUnreadable the partition stands there. browse steps over it.
 * - A record published on this machine reaches a waiting consumer within 20 ms.
 * - One record of a partition is never in the hands of two consumers of a group, except across a crash or a rebalance. A
 *   handler can ask whether its record is still its consumer's, and gets a no before another consumer is handed it: what is
 *   begun after a yes may be done twice, what waits in the handler for its turn need not be.
 * - Consumer.stop: the handler is called no more, not even for what was rejected. Consumer.close: stop, then wait for
 *   the promises still out (ending them in time is the handler's part), remember what is done, let go of the partitions.
 * - close of the broker closes its consumers; both may be called twice. What is asked for afterwards is rejected with
 *   BrokerUnavailable.
 */
export interface Broker {
  /** @throws BrokerUnavailable, RecordTooLarge */
  publish(topic: string, records: readonly NewRecord[]): Promise<void>;
  /** @throws BrokerUnavailable where the consumer can't be started */
  consume(options: ConsumeOptions): Promise<Consumer>;
  /** Every record of a topic, oldest first in each partition, up to where it stood when the first was asked for. Missing: none. */
  browse(topic: string, options?: BrowseOptions): AsyncIterable<ReceivedRecord>;
  /** Where a group stands: by partition the offset from which on it is not done. A partition without one is left out. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** By partition, of each that there is: what the topic has of it. Missing: none. */
  extent(topic: string): Promise<ReadonlyMap<number, Extent>>;
  /** The names of the topics that exist. */
  listTopics(): Promise<string[]>;
  /** Creates those of the topics that are missing. */
  ensureTopics(topics: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export type RecordHeader = readonly [name: string, value: Buffer];

export interface NewRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** A name may stand twice: its values are in order. Some brokers keep no order among different names. */
  readonly headers: readonly RecordHeader[];
}

export interface ReceivedRecord extends NewRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** When it was published, ms since the epoch. */
  readonly timestamp: number;
}

/** Records that were stored together and can't be read. */
export interface UnreadableBatch {
  readonly topic: string;
  readonly partition: number;
  /** The offsets of its first and its last record, as far as can be told. */
  readonly first: number;
  readonly last: number;
  /** none, gzip, snappy, lz4, zstd, or what stands in their place. */
  readonly codec: string;
  /** Why it can't be read, in one line. */
  readonly reason: string;
  /**
   * Of its bytes: what stands at these offsets of a topic that was made anew has another one. Null where the broker itself
   * can't read on: nobody is asked then, the partition is tried again every few seconds, and `last` is `first`.
   */
  readonly digest: string | null;
}

/** From an offset on, and up to another one, which is left out. */
interface OffsetRange {
  readonly from: number;
  readonly to?: number;
}

/** From the first offset that is kept to the one that the next record gets: the same where nothing is kept. */
export interface Extent {
  readonly first: number;
  readonly next: number;
}

/** What the log says of it. */
export const STEPPED_OVER = 'a batch can not be read: stepping over it';

export interface BrowseOptions {
  /** By partition; those that it does not name are left out. Without it: all of them, from the oldest record. */
  readonly ranges?: ReadonlyMap<number, OffsetRange>;
  /** Goes on with what is published, until it aborts, which ends it without an error. */
  readonly follow?: AbortSignal;
  /** Told of each batch that is stepped over, in its order; without it the log is. */
  readonly onUnreadable?: (batch: UnreadableBatch) => void;
}

export interface ConsumeOptions {
  readonly topics: readonly string[];
  readonly group: string;
  /** How many handler promises may be unsettled at a time, over all the topics. */
  readonly inFlight: number;
  /** How many bytes the values of records that are begun and not done may have; any number without it. */
  readonly inFlightBytes?: number;
  readonly handler: RecordHandler;
  /** Whether a record may be begun now: asked for each, so it has to be cheap. Without it, always. */
  readonly mayBegin?: () => boolean;
  /** When the record may be handed out, ms since the epoch; without it, at once. */
  readonly notBefore?: (record: ReceivedRecord) => number;
  /** @param gone aborts where the partition is another's from now on, or the consumer stops: nobody waits any more */
  readonly onUnreadable?: (batch: UnreadableBatch, gone: AbortSignal) => Promise<void>;
}

export type RecordHandler = (record: ReceivedRecord, hold: RecordHold) => Promise<void>;

/** A consumer's hold on a record that it handed out. */
export interface RecordHold {
  /**
   * False for ever once its partition was given to another consumer, and before that one begins. A promise where nobody
   * can tell just now, as in the middle of a rebalance: that takes a second, and as long as the broker can't be reached.
   * Else cheap. What is begun has to be begun at once.
   */
  isOwn(): boolean | Promise<boolean>;
  /** Of a record with several parts, each a whole number: nothing is left to do for this one if the record comes again. */
  partDone(part: number): void;
  /** Known for as long as this consumer has the record; to the next one after a planned rebalance, as far as there is room. */
  isPartDone(part: number): boolean;
}

export interface Consumer {
  stop(): void;
  close(): Promise<void>;
  /** How it stands, from memory or at the cost of one look a topic; never throws. */
  state(): ConsumerState;
  /** Fulfilled after close; rejected with BrokerUnavailable where the consumer died and can't come back by itself. */
  readonly closed: Promise<void>;
}

export interface ConsumerState {
  /** False while it has no contact with the broker, or is not in its group yet. */
  readonly connected: boolean;
  /** Records that were begun and are not done, waiting for a new try ones too, and the bytes of their values. */
  readonly inHand: number;
  readonly inHandBytes: number;
  /** Those it has just now; none while others of its group have them. */
  readonly partitions: readonly PartitionState[];
}

export interface PartitionState {
  readonly topic: string;
  readonly partition: number;
  /** Records that are published, as far as is known here, and not remembered as done. */
  readonly behind: number;
  /** The next to hand out; null where none has been read. */
  readonly head: { readonly publishedAt: number; readonly overdueMs: number } | null;
  /** Where it stands; null where it goes on. */
  readonly unreadable: UnreadableBatch | null;
}

/** It can't be reached, or does not answer in time: to be tried again. */
export class BrokerUnavailable extends Error {
  override readonly name: string = 'BrokerUnavailable';
  readonly code: string = 'BROKER_UNAVAILABLE';
}

/** The server rejected our credentials, certificate or permissions. Retrying won't help. */
export class BrokerRefused extends BrokerUnavailable {
  override readonly name = 'BrokerRefused';
  override readonly code = 'BROKER_REFUSED';
}

/** The topic takes no record of this size; nothing of that call's batch is stored. */
export class RecordTooLarge extends Error {
  override readonly name = 'RecordTooLarge';
  readonly code = 'RECORD_TOO_LARGE';
}

/** The last value of a header as text, or undefined. */
export function headerText(record: NewRecord, name: string): string | undefined {
  return record.headers.findLast(([key]) => key === name)?.[1].toString('utf8');
}

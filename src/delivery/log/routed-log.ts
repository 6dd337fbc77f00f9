/** Writes `start` and `routed` entries. Records that arrive for a partition while an entry is being written form the next `routed` entry. */
import { type PartitionStart, type ReceivedRecord, RecordRefused } from '../../ports/broker.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { partitionText } from '../record-place.js';
import { type RoutedRecord, toRoutedRecord } from './routed-entry.js';
import { toStartRecord } from './start-entry.js';

/** An entry of this many records has 10 KiB or more, depending on their webhooks. */
const MOST_IN_AN_ENTRY = 100;

export interface RoutedLogParts extends DurablePublishParts {
  /** The deliveries topic. */
  readonly topic: string;
  /** The identity of the event store. */
  readonly store: string;
}

interface PartitionQueue {
  readonly topic: string;
  readonly partition: number;
  readonly pending: PendingRecord[];
  isWriting: boolean;
}

interface PendingRecord {
  readonly record: RoutedRecord;
  readonly settle: (error: Error | null) => void;
}

export class RoutedLog {
  readonly #parts: RoutedLogParts;
  readonly #queues = new Map<string, PartitionQueue>();

  constructor(parts: RoutedLogParts) {
    this.#parts = parts;
  }

  /** Fulfilled when the entry is durable; the consumer calls again where it could not be written. */
  started(start: PartitionStart): Promise<void> {
    return this.#parts.broker.publish(this.#parts.topic, [toStartRecord(start)]);
  }

  /** Fulfilled when the record's entry is durable. @throws RecordRefused; other errors if the service abandons its work */
  add(of: Pick<ReceivedRecord, 'topic' | 'partition'>, record: RoutedRecord): Promise<void> {
    const queue = this.#queue(of);
    return new Promise((fulfil, reject) => {
      queue.pending.push({ record, settle: (error) => (error ? reject(error) : fulfil()) });
      if (!queue.isWriting) void this.#write(queue);
    });
  }

  async #write(queue: PartitionQueue): Promise<void> {
    queue.isWriting = true;
    // Records confirmed by one head arrive in one event-loop turn.
    await null;
    while (queue.pending.length > 0) {
      await this.#publish(queue, queue.pending.splice(0, MOST_IN_AN_ENTRY));
    }
    this.#queues.delete(partitionText(queue));
  }

  /** Halves an entry that the topic refuses: a single record may be what it refuses, or it takes shorter entries only. */
  async #publish(queue: PartitionQueue, written: readonly PendingRecord[]): Promise<void> {
    const { topic: log, store } = this.#parts;
    const { topic, partition } = queue;
    const entry = toRoutedRecord({ topic, partition, store, records: written.map(({ record }) => record) });
    const error = await publishUntilDurable(this.#parts, log, entry).then(
      () => null,
      (cause: Error) => cause,
    );
    if (!(error instanceof RecordRefused) || written.length === 1) {
      for (const { settle } of written) settle(error);
      return;
    }
    const half = Math.ceil(written.length / 2);
    await this.#publish(queue, written.slice(0, half));
    await this.#publish(queue, written.slice(half));
  }

  #queue({ topic, partition }: Pick<ReceivedRecord, 'topic' | 'partition'>): PartitionQueue {
    const key = partitionText({ topic, partition });
    const queue = this.#queues.get(key) ?? { topic, partition, pending: [], isWriting: false };
    this.#queues.set(key, queue);
    return queue;
  }
}

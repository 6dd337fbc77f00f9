/**
 * Writes the deliveries topic. Entries that arrive within GATHER_MS share a record: on Kafka a record costs as much CPU as
 * several entries. Records have no key, so they go to the partitions in turn.
 */
import { type PartitionStart, RecordRefused } from '../../ports/broker.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { type LogEntries, toLogRecord } from './log-record.js';

const GATHER_MS = 5;
const MOST_ENTRIES = 100;
/** Well below Kafka's default limit for a batch, 1 MiB. An entry has 400 bytes or so, but a payment's id may be long. */
const MOST_BYTES = 256 * 1024;

export interface LogWriterParts extends DurablePublishParts {
  readonly topic: string;
  readonly store: string;
  /** Calls `flush` when entries have been gathered for long enough; returns how to call that off. */
  readonly later?: (flush: () => void) => () => void;
}

type Kind = 'deliveries' | 'routed';

interface Gathered {
  readonly kind: Kind;
  readonly entry: LogEntries[Kind][number];
  readonly settle: (error: Error | null) => void;
}

export class LogWriter {
  readonly #parts: LogWriterParts;
  #gathered: Gathered[] = [];
  #callOff: (() => void) | null = null;

  constructor(parts: LogWriterParts) {
    this.#parts = parts;
  }

  /** Fulfilled when the entry is durable; the consumer calls again where it could not be written. */
  async started(start: PartitionStart): Promise<void> {
    await this.#parts.broker.publish(this.#parts.topic, [toLogRecord({ starts: [start] })]);
  }

  /** Fulfilled when the entry is durable. @throws RecordRefused; other errors if the service abandons its work */
  add<K extends Kind>(kind: K, entry: LogEntries[K][number]): Promise<void> {
    return new Promise((fulfil, reject) => {
      this.#gathered.push({ kind, entry, settle: (error) => (error ? reject(error) : fulfil()) });
      if (this.#gathered.length >= MOST_ENTRIES) this.#flush();
      else this.#callOff ??= (this.#parts.later ?? afterGathering)(() => this.#flush());
    });
  }

  #flush(): void {
    this.#callOff?.();
    this.#callOff = null;
    void this.#write(this.#gathered);
    this.#gathered = [];
  }

  /** Halves a record that the topic refuses: it may refuse a single entry, or take shorter records only. Never rejects. */
  async #write(batch: readonly Gathered[]): Promise<void> {
    const failure = await this.#publish(batch).catch((error: Error) => error);
    if (failure instanceof RecordRefused && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      await Promise.all([this.#write(batch.slice(0, half)), this.#write(batch.slice(half))]);
    } else for (const { settle } of batch) settle(failure ?? null);
  }

  async #publish(batch: readonly Gathered[]): Promise<void> {
    const { topic, store } = this.#parts;
    const record = toLogRecord({ store, deliveries: of(batch, 'deliveries'), routed: of(batch, 'routed') });
    if (batch.length > 1 && (record.value?.length ?? 0) > MOST_BYTES) throw new RecordRefused('too many entries');
    await publishUntilDurable(this.#parts, topic, record);
  }
}

function afterGathering(flush: () => void): () => void {
  const timer = setTimeout(flush, GATHER_MS);
  return () => clearTimeout(timer);
}

/** Undefined, which JSON leaves out, if there are none. */
function of<K extends Kind>(batch: readonly Gathered[], kind: K): LogEntries[K] | undefined {
  const entries = batch.flatMap((one) => (one.kind === kind ? [one.entry] : []));
  return entries.length > 0 ? (entries as unknown as LogEntries[K]) : undefined;
}

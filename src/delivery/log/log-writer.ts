/**
 * Writes the deliveries topic. Entries that arrive within GATHER_MS share a record: on Kafka a record costs as much CPU as
 * several entries. Records have no key, so they go to the partitions in turn.
 */
import type { PartitionStart } from '../../ports/broker.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { type LogEntries, toGatheredRecord, toLogRecord } from './log-record.js';

const GATHER_MS = 5;
const MOST_ENTRIES = 100;
/** Of entries: an entry has 400 bytes or so, but an id and a source of 1 KiB each may take 6 KiB as JSON. */
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
  readonly json: string;
  readonly settle: (error: Error | null) => void;
}

export class LogWriter {
  readonly #parts: LogWriterParts;
  #gathered: Gathered[] = [];
  #bytes = 0;
  #callOff: (() => void) | null = null;

  constructor(parts: LogWriterParts) {
    this.#parts = parts;
  }

  /** Fulfilled when the entry is durable; the consumer calls again where it could not be written. */
  async started(start: PartitionStart): Promise<void> {
    await this.#parts.broker.publish(this.#parts.topic, [toLogRecord({ starts: [start] })]);
  }

  /** Fulfilled when the entry is durable; rejected if the service abandons its work. */
  add<K extends Kind>(kind: K, entry: LogEntries[K][number]): Promise<void> {
    const json = JSON.stringify(entry);
    const bytes = Buffer.byteLength(json);
    if (this.#gathered.length > 0 && this.#bytes + bytes > MOST_BYTES) this.#flush();
    this.#bytes += bytes;
    return new Promise((fulfil, reject) => {
      this.#gathered.push({ kind, json, settle: (error) => (error ? reject(error) : fulfil()) });
      if (this.#gathered.length >= MOST_ENTRIES) this.#flush();
      else this.#callOff ??= (this.#parts.later ?? afterGathering)(() => this.#flush());
    });
  }

  #flush(): void {
    this.#callOff?.();
    this.#callOff = null;
    void this.#write(this.#gathered);
    this.#gathered = [];
    this.#bytes = 0;
  }

  /** Never rejects. */
  async #write(batch: readonly Gathered[]): Promise<void> {
    const { topic, store } = this.#parts;
    const of = (wanted: Kind) => batch.filter(({ kind }) => kind === wanted).map(({ json }) => json);
    const record = toGatheredRecord(store, { deliveries: of('deliveries'), routed: of('routed') });
    const failure = await publishUntilDurable(this.#parts, topic, record).catch((error: Error) => error);
    for (const { settle } of batch) settle(failure ?? null);
  }
}

function afterGathering(flush: () => void): () => void {
  const timer = setTimeout(flush, GATHER_MS);
  return () => clearTimeout(timer);
}

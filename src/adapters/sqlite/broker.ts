/** The broker on SQLite: for one machine, in the same file as the history. SQLite errors become BrokerUnavailable. */
import {
  type Broker,
  BrokerUnavailable,
  type BrowseOptions,
  type ConsumeOptions,
  type Consumer,
  type Extent,
  type NewRecord,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { browseTopic } from './browse.js';
import { SqliteConsumer } from './consumer.js';
import { codeOf, FileClosed, isCorrupt } from './open-file.js';
import { readPatiently } from './read-patiently.js';
import { RecordLog } from './record-log.js';
import { StoreDamaged, type StoreFile } from './store-file.js';

export class SqliteBroker implements Broker {
  readonly #store: StoreFile;
  readonly #log: RecordLog;
  readonly #tell: (batch: UnreadableBatch) => void;
  readonly #consumers = new Set<SqliteConsumer>();
  #closed = false;

  /**
   * @param tell called with batches that browse skips, if its caller gave no callback
   * @param now the time of new records, ms since the epoch
   */
  constructor(store: StoreFile, tell: (batch: UnreadableBatch) => void = () => undefined, now = Date.now) {
    this.#store = store;
    this.#tell = tell;
    this.#log = new RecordLog(store, now);
  }

  publish(topic: string, records: readonly NewRecord[]): Promise<void> {
    return this.#open(() => this.#log.append(topic, records));
  }

  consume(options: ConsumeOptions): Promise<Consumer> {
    return this.#open(async () => {
      for (const start of this.#log.starts(options.group, options.topics)) await options.onStart?.(start);
      await this.#log.begin(options.group, options.topics);
      const consumer = new SqliteConsumer(this.#store, this.#log, options, (work) => this.#open(work));
      this.#consumers.add(consumer);
      consumer.closed.then(() => this.#consumers.delete(consumer));
      return consumer;
    });
  }

  browse(topic: string, options: BrowseOptions = {}): AsyncIterable<ReceivedRecord> {
    const read = <T>(work: () => T) => this.#open(() => readPatiently(work));
    return browseTopic({ store: this.#store, log: this.#log, read }, topic, { onUnreadable: this.#tell, ...options });
  }

  async read(topic: string, partition: number, offset: number): Promise<ReceivedRecord | null> {
    const ranges = new Map([[partition, { from: offset, to: offset + 1 }]]);
    for await (const record of this.browse(topic, { ranges })) return record;
    return null;
  }

  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    return this.#open(async () => {
      const committed = this.#log.committed(group, topic);
      return new Map(committed === null ? [] : [[0, committed]]);
    });
  }

  extent(topic: string): Promise<ReadonlyMap<number, Extent>> {
    return this.#open(async () => {
      const extent = this.#log.extent(topic);
      return new Map(extent ? [[0, extent]] : []);
    });
  }

  listTopics(): Promise<string[]> {
    return this.#open(async () => this.#log.topics());
  }

  ensureTopics(topics: readonly string[]): Promise<void> {
    return this.#open(() => this.#log.ensure(topics));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
  }

  async #open<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (this.#closed) throw new FileClosed('the broker is closed');
      return await work();
    } catch (cause) {
      const why = isCorrupt(cause) ? new StoreDamaged(cause).message : `the broker can't be used (${codeOf(cause)})`;
      throw new BrokerUnavailable(why, { cause });
    }
  }
}

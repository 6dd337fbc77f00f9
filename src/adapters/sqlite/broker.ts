/** The broker on SQLite: for one machine, in the same file as the history. Errors of SQLite leave as BrokerUnavailable. */
import {
  type Broker,
  BrokerUnavailable,
  type ConsumeOptions,
  type Consumer,
  type NewRecord,
  type ReceivedRecord,
} from '../../ports/broker.js';
import { SqliteConsumer } from './consumer.js';
import { codeOf } from './open-file.js';
import { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 500;

export class SqliteBroker implements Broker {
  readonly #store: StoreFile;
  readonly #log: RecordLog;
  readonly #consumers = new Set<SqliteConsumer>();

  constructor(store: StoreFile) {
    this.#store = store;
    this.#log = new RecordLog(store);
  }

  publish(topic: string, records: readonly NewRecord[]): Promise<void> {
    return translated(() => this.#log.append(topic, records));
  }

  consume(options: ConsumeOptions): Promise<Consumer> {
    return translated(async () => {
      await this.#log.ensure(options.topics);
      const consumer = new SqliteConsumer(this.#store, this.#log, options);
      this.#consumers.add(consumer);
      consumer.closed.then(() => this.#consumers.delete(consumer));
      consumer.start();
      return consumer;
    });
  }

  async *browse(topic: string): AsyncIterable<ReceivedRecord> {
    const end = await translated(async () => this.#log.end(topic));
    let next = 0;
    while (next < end) {
      const page = await translated(async () => this.#log.page(topic, next, PAGE));
      if (page.length === 0) return;
      for (const record of page) if (record.offset < end) yield record;
      next = (page.at(-1)?.offset ?? end) + 1;
    }
  }

  listTopics(): Promise<string[]> {
    return translated(async () => this.#log.topics());
  }

  ensureTopics(topics: readonly string[]): Promise<void> {
    return translated(() => this.#log.ensure(topics));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
  }
}

async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new BrokerUnavailable(`the broker can't be used (${codeOf(cause)})`, { cause });
  }
}

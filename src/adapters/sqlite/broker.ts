/** The broker on SQLite: for one machine, in the same file as the history. SQLite errors become BrokerUnavailable. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Broker,
  BrokerUnavailable,
  type CompletedAhead,
  type ConsumeOptions,
  type Consumer,
  type Extent,
  type FollowedPage,
  type FollowOptions,
  type NewRecord,
  type Position,
  type Positions,
  positionBehind,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import { assertSameTopic } from '../common/recreated.js';
import { SqliteConsumer } from './consumer.js';
import { FileClosed } from './open-file.js';
import { RecordLog } from './record-log.js';
import type { StoreFile } from './store-file.js';

const PAGE = 500;
/** Under load every commit is a change: what they bring is read together. */
const GATHER_MS = 20;

export class SqliteBroker implements Broker {
  readonly #store: StoreFile;
  readonly #log: RecordLog;
  readonly #skips: (batch: UnreadableBatch) => void;
  readonly #consumers = new Set<SqliteConsumer>();
  readonly #closing = new AbortController();

  /** @param skips called with unreadable batches that a follower gives @param now of new records, ms since the epoch */
  constructor(store: StoreFile, skips: (batch: UnreadableBatch) => void = () => undefined, now = Date.now) {
    this.#store = store;
    this.#skips = skips;
    this.#log = new RecordLog(store, now);
  }

  publish(topic: string, records: readonly NewRecord[]): Promise<readonly number[]> {
    return this.#open(() => this.#log.append(topic, records));
  }

  consume(options: ConsumeOptions): Promise<Consumer> {
    return this.#open(async () => {
      // The offset of a group that takes no record would keep them all.
      await (options.inFlight > 0 ? this.#log.begin(options.group, options.topics) : this.#log.ensure(options.topics));
      const consumer = new SqliteConsumer(this.#store, this.#log, options);
      this.#consumers.add(consumer);
      consumer.closed.then(() => this.#consumers.delete(consumer));
      return consumer;
    });
  }

  async *follow(topic: string, positions: Positions, options: FollowOptions): AsyncIterable<FollowedPage> {
    const position = positions.get(0) ?? { offset: 0, before: null };
    const extent = (await this.extent(topic)).get(0) ?? { first: 0, next: 0 };
    await assertSameTopic(this, { topic, partition: 0 }, position, extent);
    if (options.partitions && !options.partitions.has(0)) return;
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    yield* this.#pages(topic, position, signal, options.gatherMs ?? GATHER_MS);
    if (!options.signal.aborted) await this.#open(async () => undefined);
  }

  async *#pages(topic: string, from: Position, signal: AbortSignal, gatherMs: number): AsyncIterable<FollowedPage> {
    const changes = this.#store.changes.of(topic);
    let position = from;
    try {
      while (!signal.aborted) {
        const { page: items, next, atEnd, end } = await this.#open(async () => this.#page(topic, position.offset));
        // Retention may have removed all that there was.
        position = positionBehind(position, items, items.length === 0 ? end : next);
        for (const item of items) if ('digest' in item) this.#skips(item);
        yield { partition: 0, items, position, end: Math.max(end, position.offset) };
        await (atEnd ? changes.next(signal) : nextTurn());
        if (atEnd) await sleep(gatherMs, signal);
      }
    } finally {
      changes.close();
    }
  }

  /** The end is read first: a record published meanwhile is in the page or behind it. */
  #page(topic: string, from: number) {
    const end = this.#log.end(topic);
    return { end, ...this.#log.page(topic, from, PAGE) };
  }

  async read(topic: string, partition: number, offset: number): Promise<ReceivedRecord | null> {
    if (partition !== 0) return null;
    const { page } = await this.#open(async () => this.#log.page(topic, offset, 1));
    const [found] = page;
    return found && 'offset' in found && found.offset === offset ? found : null;
  }

  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    return this.#open(async () => {
      const committed = this.#log.committed(group, topic);
      return new Map(committed === null ? [] : [[0, committed]]);
    });
  }

  completedAhead(group: string, topic: string): Promise<ReadonlyMap<number, CompletedAhead>> {
    return this.#open(async () => {
      const { behind } = this.#log.progress(group, topic);
      return new Map(behind ? [[0, behind]] : []);
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
    this.#closing.abort();
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
  }

  async #open<T>(work: () => Promise<T>): Promise<T> {
    try {
      if (this.#closing.signal.aborted) throw new FileClosed('the broker is closed');
      return await work();
    } catch (cause) {
      throw new BrokerUnavailable(this.#store.whyFailed(cause, 'the broker'), { cause });
    }
  }
}

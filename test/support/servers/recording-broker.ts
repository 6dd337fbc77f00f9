import {
  type Broker,
  BrokerRefused,
  BrokerUnavailable,
  type CompletedAhead,
  type Consumer,
  type Extent,
  type FollowedPage,
  type NewRecord,
  type Positions,
  type ReceivedRecord,
  RecordRefused,
} from '../../../src/ports/broker.js';

/** Records publications. Refuses topics in `failing`. Nothing consumes from it. */
export class RecordingBroker implements Broker {
  readonly #published: { topic: string; record: NewRecord }[] = [];
  /** Fails every publish to these topics. */
  readonly failing = new Set<string>();
  /** Refuses every record of these topics. */
  readonly refusing = new Set<string>();
  /** Denies the permission for these topics. */
  readonly denied = new Set<string>();
  refused = 0;

  forget(): void {
    this.#published.length = 0;
  }

  async publish(topic: string, records: readonly NewRecord[]): Promise<readonly number[]> {
    if (this.failing.has(topic)) {
      this.refused += 1;
      throw new BrokerUnavailable(`${topic} takes nothing now`);
    }
    if (this.refusing.has(topic)) throw new RecordRefused(`${topic} refuses the record (POLICY_VIOLATION)`);
    if (this.denied.has(topic)) throw new BrokerRefused(`no permission to write to ${topic}`);
    const { length } = this.of(topic);
    for (const record of records) this.#published.push({ topic, record });
    return records.map((_, n) => length + n);
  }

  /** Every topic with a publication, by name. */
  get topics(): string[] {
    return [...new Set(this.#published.map(({ topic }) => topic))].sort();
  }

  of(topic: string): ReceivedRecord[] {
    const records = this.#published.filter((published) => published.topic === topic);
    return records.map(({ record }, offset) => ({ ...record, topic, partition: 0, offset, timestamp: 0 }));
  }

  /** What there is. */
  async *follow(topic: string, positions: Positions): AsyncIterable<FollowedPage> {
    const all = this.of(topic);
    const { offset = 0 } = positions.get(0) ?? {};
    yield { partition: 0, items: all.slice(offset), position: { offset: all.length, before: null }, end: all.length };
  }

  async read(topic: string, partition: number, offset: number): Promise<ReceivedRecord | null> {
    return this.of(topic).find((record) => record.partition === partition && record.offset === offset) ?? null;
  }

  async committed(): Promise<ReadonlyMap<number, number>> {
    return new Map();
  }

  async completedAhead(): Promise<ReadonlyMap<number, CompletedAhead>> {
    return new Map();
  }

  async extent(topic: string): Promise<ReadonlyMap<number, Extent>> {
    return new Map([[0, { first: 0, next: this.of(topic).length }]]);
  }

  consume(): Promise<Consumer> {
    return Promise.reject(new BrokerUnavailable('nothing consumes from a recording broker'));
  }

  async listTopics(): Promise<string[]> {
    return this.topics;
  }

  async ensureTopics(): Promise<void> {}
  async close(): Promise<void> {}
}

import { type Broker, headerText, type NewRecord } from '../../ports/broker.js';
import { topicRecords } from '../../ports/topic-records.js';
import type { BuriedBatch } from '../dead-letters.js';
import { paymentText, placeOf, type RecordOffset } from '../record-place.js';
import type { Topics } from '../topics.js';

const REPLAY_OF = 'aw-replay-of';

/**
 * Publishes records again that were not delivered. Each names the record that it repeats, so a replay that is repeated or
 * interrupted publishes each one once.
 */
export class RecordsAgain {
  readonly #broker: Broker;
  readonly #topics: Topics;
  readonly #readTopics = new Set<string>();
  /** The places that records of these topics name as repeated. */
  readonly #published = new Set<string>();

  constructor(broker: Broker, topics: Topics) {
    this.#broker = broker;
    this.#topics = topics;
  }

  /** Whether it was published again, as far as the topics still show. @throws BrokerUnavailable */
  async isPublished(place: RecordOffset): Promise<boolean> {
    for (const topic of this.#topicsOf(place)) await this.#read(topic);
    return this.#published.has(paymentText(place));
  }

  /** @param place the original place of the record @throws BrokerUnavailable, RecordRefused */
  async publish({ key, value, headers }: NewRecord, place: RecordOffset): Promise<void> {
    const topics = this.#topicsOf(place);
    // A topic without consumers would keep the record forever.
    const topic = topics.includes(place.topic) ? place.topic : topics[0];
    const replayOf = paymentText(place);
    await this.#broker.publish(topic, [{ key, value, headers: [...headers, [REPLAY_OF, Buffer.from(replayOf)]] }]);
    this.#published.add(replayOf);
  }

  /**
   * unreadable-batch: the batch is still unreadable, or its topic no longer has it. Null: all was published again before.
   * @throws BrokerUnavailable, RecordRefused
   */
  async publishBatch(batch: BuriedBatch): Promise<'published' | 'unreadable-batch' | null> {
    const { topic, partition, first, last, after } = batch;
    const before = after === null ? null : await this.#broker.read(topic, partition, first - 1);
    // Of a topic that was recreated.
    if (before && before.timestamp !== after) return 'unreadable-batch';
    const ranges = new Map([[partition, { from: first, to: last + 1 }]]);
    let [found, published] = [0, 0];
    for await (const record of topicRecords(this.#broker, topic, { ranges })) {
      const place = placeOf(record);
      found += 1;
      if (await this.isPublished(place)) continue;
      await this.publish(record, place);
      published += 1;
    }
    if (published > 0) return 'published';
    return found > 0 ? null : 'unreadable-batch';
  }

  #topicsOf({ topic }: RecordOffset): readonly [string, ...string[]] {
    return this.#topics.isOwn(topic) ? [topic] : this.#topics.payments;
  }

  async #read(topic: string): Promise<void> {
    if (this.#readTopics.has(topic)) return;
    await this.#broker.ensureTopics([topic]);
    for await (const record of topicRecords(this.#broker, topic)) {
      const replayOf = headerText(record, REPLAY_OF);
      if (replayOf !== undefined) this.#published.add(replayOf);
    }
    this.#readTopics.add(topic);
  }
}

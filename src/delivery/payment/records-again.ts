import { type Broker, headerText, type NewRecord, type ReceivedRecord, type RecordHeader } from '../../ports/broker.js';
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
  /** By topic, the places that its records name as repeated. */
  readonly #published = new Map<string, Promise<Set<string>>>();

  constructor(broker: Broker, topics: Topics) {
    this.#broker = broker;
    this.#topics = topics;
  }

  /** Whether it was published again, as far as the topics still show. @throws BrokerUnavailable */
  async isPublished(place: RecordOffset): Promise<boolean> {
    for (const topic of this.#topicsOf(place)) {
      if ((await this.#publishedIn(topic)).has(paymentText(place))) return true;
    }
    return false;
  }

  /** @param place the original place of the record @throws BrokerUnavailable, RecordRefused */
  async publish({ key, value, headers }: NewRecord, place: RecordOffset): Promise<void> {
    const topics = this.#topicsOf(place);
    // A topic without consumers would keep the record forever.
    const topic = topics.includes(place.topic) ? place.topic : (topics[0] ?? place.topic);
    const replayOf = paymentText(place);
    const mark: RecordHeader = [REPLAY_OF, Buffer.from(replayOf)];
    await this.#broker.publish(topic, [{ key, value, headers: [...headers, mark] }]);
    (await this.#publishedIn(topic)).add(replayOf);
  }

  /**
   * unreadable-batch: the batch is still unreadable, or its topic no longer has it. Null: all was published again before.
   * @throws BrokerUnavailable, RecordRefused
   */
  async publishBatch(batch: BuriedBatch): Promise<'published' | 'unreadable-batch' | null> {
    const records = (await this.#isOfItsTopic(batch)) ? await this.#read(batch) : [];
    let published = 0;
    for (const record of records) {
      const place = placeOf(record);
      if (await this.isPublished(place)) continue;
      await this.publish(record, place);
      published += 1;
    }
    if (published > 0) return 'published';
    return records.length > 0 ? null : 'unreadable-batch';
  }

  /** In a recreated topic, the record before the batch has another time. */
  async #isOfItsTopic({ topic, partition, first, after }: BuriedBatch): Promise<boolean> {
    if (after === null) return true;
    const before = await this.#broker.read(topic, partition, first - 1);
    return before === null || before.timestamp === after;
  }

  async #read({ topic, partition, first, last }: BuriedBatch): Promise<readonly ReceivedRecord[]> {
    const records: ReceivedRecord[] = [];
    const ranges = new Map([[partition, { from: first, to: last + 1 }]]);
    for await (const record of topicRecords(this.#broker, topic, { ranges })) records.push(record);
    return records;
  }

  #topicsOf({ topic }: RecordOffset): readonly string[] {
    return this.#topics.isTier(topic) ? [topic] : this.#topics.payments;
  }

  #publishedIn(topic: string): Promise<Set<string>> {
    const known = this.#published.get(topic) ?? this.#readPublished(topic);
    this.#published.set(topic, known);
    return known;
  }

  async #readPublished(topic: string): Promise<Set<string>> {
    const found = new Set<string>();
    await this.#broker.ensureTopics([topic]);
    for await (const record of topicRecords(this.#broker, topic)) {
      const replayOf = headerText(record, REPLAY_OF);
      if (replayOf !== undefined) found.add(replayOf);
    }
    return found;
  }
}

/**
 * Publishes records again that were not delivered: payments of accounts that could not be read, and the records of batches
 * that could not be read. Each names the record that it repeats, so a replay that is repeated or interrupted publishes each
 * one once.
 */

import { type Broker, headerText, type NewRecord, type ReceivedRecord, type RecordHeader } from '../../ports/broker.js';
import { topicRecords } from '../../ports/topic-records.js';
import { type Place, paymentText, placeOf } from '../record-place.js';
import type { Topics } from '../topics.js';
import type { BuriedBatch } from './dead-letters.js';

const REPLAY_OF = 'aw-replay-of';

export interface PublishAgainParts {
  readonly broker: Pick<Broker, 'extent' | 'follow' | 'publish' | 'ensureTopics' | 'read'>;
  readonly topics: Pick<Topics, 'payments' | 'isTier'>;
}

export class RecordsAgain {
  readonly #parts: PublishAgainParts;
  /** By topic, the places that its records name as repeated. */
  readonly #published = new Map<string, Promise<Set<string>>>();

  constructor(parts: PublishAgainParts) {
    this.#parts = parts;
  }

  /** Whether it was published again, as far as the topics still show. @throws BrokerUnavailable */
  async isPublished(place: Place): Promise<boolean> {
    for (const topic of this.#topicsOf(place)) {
      if ((await this.#publishedIn(topic)).has(paymentText(place))) return true;
    }
    return false;
  }

  /** @param place the original place of the record @throws BrokerUnavailable, RecordRefused */
  async publish({ key, value, headers }: NewRecord, place: Place): Promise<void> {
    const topics = this.#topicsOf(place);
    // A topic without consumers would keep the record forever.
    const topic = topics.includes(place.topic) ? place.topic : (topics[0] ?? place.topic);
    const replayOf = paymentText(place);
    const mark: RecordHeader = [REPLAY_OF, Buffer.from(replayOf)];
    await this.#parts.broker.publish(topic, [{ key, value, headers: [...headers, mark] }]);
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
    const before = await this.#parts.broker.read(topic, partition, first - 1);
    return before === null || before.timestamp === after;
  }

  async #read({ topic, partition, first, last }: BuriedBatch): Promise<readonly ReceivedRecord[]> {
    const records: ReceivedRecord[] = [];
    const ranges = new Map([[partition, { from: first, to: last + 1 }]]);
    for await (const record of topicRecords(this.#parts.broker, topic, { ranges })) records.push(record);
    return records;
  }

  #topicsOf({ topic }: Place): readonly string[] {
    const { payments, isTier } = this.#parts.topics;
    return isTier(topic) ? [topic] : payments;
  }

  #publishedIn(topic: string): Promise<Set<string>> {
    const known = this.#published.get(topic) ?? this.#readPublished(topic);
    this.#published.set(topic, known);
    return known;
  }

  async #readPublished(topic: string): Promise<Set<string>> {
    const { broker } = this.#parts;
    const found = new Set<string>();
    await broker.ensureTopics([topic]);
    for await (const record of topicRecords(broker, topic)) {
      const replayOf = headerText(record, REPLAY_OF);
      if (replayOf !== undefined) found.add(replayOf);
    }
    return found;
  }
}

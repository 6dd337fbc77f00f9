/**
 * Replays payments that were not routed because their account was unreadable: publishes them to the payment topic
 * again, as received. Each record names the record that it replays, so a repeated or interrupted replay publishes each
 * one once.
 */
import { type Broker, headerText, type NewRecord, type RecordHeader } from '../../ports/broker.js';
import { foreignHeaders } from '../delivery.js';
import { type Place, paymentText } from '../record-place.js';
import type { Topics } from '../topics.js';

const REPLAY_OF = 'aw-replay-of';

export interface PublishAgainParts {
  readonly broker: Pick<Broker, 'browse' | 'publish' | 'ensureTopics'>;
  readonly topics: Pick<Topics, 'payments'>;
}

export class PaymentsAgain {
  readonly #parts: PublishAgainParts;
  /** The places named by replays; null before the payment topics were read. */
  #published: Set<string> | null = null;

  constructor(parts: PublishAgainParts) {
    this.#parts = parts;
  }

  /** Whether the payment was published again, as far as the payment topics still show. @throws BrokerUnavailable */
  async isPublished(place: Place): Promise<boolean> {
    this.#published ??= await this.#read();
    return this.#published.has(paymentText(place));
  }

  /** @param place the original place of the letter's record @throws BrokerUnavailable */
  async publish(letter: NewRecord, place: Place): Promise<void> {
    const { payments } = this.#parts.topics;
    // A topic without consumers would keep the record forever.
    const topic = payments.includes(place.topic) ? place.topic : (payments[0] ?? place.topic);
    const replayOf = paymentText(place);
    const mark: RecordHeader = [REPLAY_OF, Buffer.from(replayOf)];
    const { key, value } = letter;
    await this.#parts.broker.publish(topic, [{ key, value, headers: [...foreignHeaders(letter), mark] }]);
    this.#published?.add(replayOf);
  }

  async #read(): Promise<Set<string>> {
    const { broker, topics } = this.#parts;
    const found = new Set<string>();
    await broker.ensureTopics([...topics.payments]);
    for (const topic of topics.payments) {
      for await (const record of broker.browse(topic)) {
        const replayOf = headerText(record, REPLAY_OF);
        if (replayOf !== undefined) found.add(replayOf);
      }
    }
    return found;
  }
}

/** The groups' committed offsets when the audit began. */
import type { Topics } from '../delivery/topics.js';
import type { Broker } from '../ports/broker.js';

export interface Groups {
  readonly payments: string;
  readonly retries: string;
}

export interface CommittedParts {
  readonly broker: Pick<Broker, 'committed' | 'listTopics'>;
  readonly topics: Topics;
  readonly groups: Groups;
}

const NONE: ReadonlyMap<number, number> = new Map();

export class Committed {
  readonly #topics = new Map<string, ReadonlyMap<number, number>>();

  /** @throws BrokerUnavailable */
  static async of({ broker, topics, groups }: CommittedParts): Promise<Committed> {
    const committed = new Committed();
    const tiers = (await broker.listTopics()).filter((topic) => topics.isTier(topic));
    for (const topic of new Set(topics.payments)) {
      committed.#topics.set(topic, await broker.committed(groups.payments, topic));
    }
    for (const topic of tiers) committed.#topics.set(topic, await broker.committed(groups.retries, topic));
    return committed;
  }

  of(topic: string): ReadonlyMap<number, number> {
    return this.#topics.get(topic) ?? NONE;
  }

  /** Whether the group was not done with this record. In a topic created later it was done with nothing. */
  isOpen({ topic, partition, offset }: { topic: string; partition: number; offset: number }): boolean {
    return offset >= (this.of(topic).get(partition) ?? 0);
  }
}

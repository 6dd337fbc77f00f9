/**
 * The last chain of each delivery that was requested, for dispatchers: a record ends where a later chain of its delivery
 * began. Dispatchers share the requests topic in their group, and each follows all of it. A forgotten request counts as none.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../observability/logger.js';
import { type Broker, type Position, type ReceivedRecord, TopicRecreated } from '../../ports/broker.js';
import { topicRecords } from '../../ports/topic-records.js';
import { retry, type Sleep, sleep } from '../../time/retry.js';
import type { Delivery } from '../delivery.js';
import type { Topics } from '../topics.js';
import { requestIn } from './request.js';

/** About 20 MB. */
const MOST_REMEMBERED = 100_000;

export interface RequestsParts {
  readonly logger: Logger;
  readonly broker: Pick<Broker, 'follow' | 'extent'>;
  readonly topics: Pick<Topics, 'requests'>;
  readonly pause?: Sleep;
}

export class Requests {
  readonly #parts: RequestsParts;
  /** By id and place. */
  readonly #chains = new LRUCache<string, number>({ max: MOST_REMEMBERED });

  constructor(parts: RequestsParts) {
    this.#parts = parts;
  }

  /** The last chain of the delivery, if it began after its own; else null. A payment that is published anew is another delivery. */
  laterChain({ id, payment, chain }: Pick<Delivery, 'id' | 'payment' | 'chain'>): number | null {
    // Asked several times for each delivery, and seldom is there one: making the keys took 3 % of its way, in a profile.
    if (this.#chains.size === 0) return null;
    const last = this.#chains.get(keyOf(id, payment)) ?? 0;
    return last > chain ? last : null;
  }

  /** Also of a request that this process consumes before it has read on. */
  learn(record: ReceivedRecord): void {
    const request = requestIn(record);
    if (!request) return;
    const { id, chain } = request.delivery;
    for (const key of request.places.map((place) => keyOf(id, place))) {
      this.#chains.set(key, Math.max(chain, this.#chains.get(key) ?? 0));
    }
  }

  /** Fulfilled once it has the requests of before the call; newer ones are followed. @throws BrokerUnavailable */
  async start(signal: AbortSignal): Promise<void> {
    const { broker, topics, logger, pause = sleep } = this.#parts;
    const ends = [...(await broker.extent(topics.requests))];
    const positions = new Map(ends.map(([partition, { next }]) => [partition, { offset: next, before: null }]));
    const failed = (error: unknown) => {
      logger.warn(
        { err: error },
        'cannot read on in the requests topic: deliveries go on as if nothing was requested since; retrying',
      );
      if (error instanceof TopicRecreated) positions.clear();
    };
    try {
      for await (const record of topicRecords(broker, topics.requests)) this.learn(record);
    } catch (error) {
      // Kafka answered just now, so it can't read the topic. No payment waits for that: it is followed from its start.
      failed(error);
      positions.clear();
    }
    void retry(() => this.#follow(positions, signal), { signal, failed, pause });
  }

  async #follow(positions: Map<number, Position>, signal: AbortSignal): Promise<void> {
    const { broker, topics } = this.#parts;
    for await (const page of broker.follow(topics.requests, positions, { signal })) {
      for (const item of page.items) if ('offset' in item) this.learn(item);
      positions.set(page.partition, page.position);
    }
  }
}

const keyOf = (id: string, payment: string | null) => `${id} ${payment}`;

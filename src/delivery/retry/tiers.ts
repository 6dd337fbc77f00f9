/** The tiers that exist. Processes with different schedules may share an installation, and each writes to its own tiers. */
import type { Logger } from '../../observability/logger.js';
import type { Broker, Consumer } from '../../ports/broker.js';
import { retry } from '../../time/retry.js';
import { retryGroup, type Topics } from '../topics.js';

export interface TiersParts {
  readonly broker: Pick<Broker, 'listTopics' | 'extent' | 'committed'>;
  readonly topics: Pick<Topics, 'tierOf'>;
  readonly group: string;
  readonly logger: Logger;
}

/** @throws BrokerUnavailable */
export async function existingTiers({ broker, topics }: Pick<TiersParts, 'broker' | 'topics'>): Promise<string[]> {
  return (await broker.listTopics()).filter((topic) => topics.tierOf(topic) !== null);
}

/** Lets a dispatcher read tiers that appear while it runs: nobody else may, once the process that made them has ended. */
export class TierDiscovery {
  readonly #parts: TiersParts;
  readonly #read: Set<string>;
  /** By tier, its waiting records if it is not read yet; 0 if it is. */
  readonly unread: Map<string, number>;

  /** @param read the tiers that the consumer was started with */
  constructor(parts: TiersParts, read: readonly string[]) {
    this.#parts = parts;
    this.#read = new Set(read);
    this.unread = new Map(read.map((topic) => [topic, 0]));
  }

  /** Looks now, and in the end every so many ms, until the signal aborts. Never rejects. */
  run(consumer: Pick<Consumer, 'subscribe'>, everyMs: number, signal: AbortSignal): Promise<void> {
    const failed = (err: unknown) =>
      this.#parts.logger.warn({ err }, 'could not find or subscribe to new retry tiers; retrying');
    return retry(() => this.look(consumer), { signal, failed, longestPauseMs: everyMs });
  }

  /** @throws BrokerUnavailable */
  async look(consumer: Pick<Consumer, 'subscribe'>): Promise<void> {
    const found = (await existingTiers(this.#parts)).filter((topic) => !this.#read.has(topic));
    for (const topic of found) this.unread.set(topic, await this.#left(topic));
    if (found.length === 0) return;
    await consumer.subscribe(found);
    for (const topic of found) {
      this.#read.add(topic);
      this.unread.set(topic, 0);
    }
    this.#parts.logger.info({ tiers: found }, 'reading retry tiers of another schedule');
  }

  async #left(topic: string): Promise<number> {
    const { broker, group } = this.#parts;
    const committed = await broker.committed(retryGroup(group), topic);
    const extents = [...(await broker.extent(topic))];
    return extents.reduce((sum, [partition, { first, next }]) => sum + next - (committed.get(partition) ?? first), 0);
  }
}

/** The tiers that exist. Processes with different schedules may share an installation, and each writes to its own tiers. */
import type { Logger } from '../../observability/logger.js';
import type { Broker, Consumer } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
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
  #unread: ReadonlyMap<string, number> = new Map();

  /** @param read the tiers that the consumer was started with */
  constructor(parts: TiersParts, read: Iterable<string>) {
    this.#parts = parts;
    this.#read = new Set(read);
  }

  /** By tier, its waiting records if it is not read yet; 0 if it is. */
  get unread(): ReadonlyMap<string, number> {
    return new Map([...[...this.#read].map((topic) => [topic, 0] as const), ...this.#unread]);
  }

  /** Looks every so many ms until the signal aborts. Never rejects: what fails is tried again by the next look. */
  async run(consumer: Pick<Consumer, 'subscribe'>, everyMs: number, signal: AbortSignal): Promise<void> {
    for (await sleep(everyMs, signal); !signal.aborted; await sleep(everyMs, signal)) {
      await this.look(consumer).catch((error: unknown) => {
        if (signal.aborted) return;
        this.#parts.logger.warn({ err: error }, 'could not find or subscribe to new retry tiers; retrying');
      });
    }
  }

  /** @throws BrokerUnavailable */
  async look(consumer: Pick<Consumer, 'subscribe'>): Promise<void> {
    const found = (await existingTiers(this.#parts)).filter((topic) => !this.#read.has(topic));
    this.#unread = new Map(await Promise.all(found.map(async (topic) => [topic, await this.#left(topic)] as const)));
    if (found.length === 0) return;
    await consumer.subscribe(found);
    for (const topic of found) this.#read.add(topic);
    this.#unread = new Map();
    this.#parts.logger.info({ tiers: found }, 'reading retry tiers of another schedule');
  }

  async #left(topic: string): Promise<number> {
    const { broker, group } = this.#parts;
    const committed = await broker.committed(retryGroup(group), topic);
    const extents = [...(await broker.extent(topic))];
    return extents.reduce((sum, [partition, { first, next }]) => sum + next - (committed.get(partition) ?? first), 0);
  }
}

/**
 * Finds tiers of other schedules that appear while a dispatcher runs, and reads them. Processes with different values of RETRY_SCHEDULE
 * may share an installation, and each writes to its own tiers: once a canary has ended, nobody else reads what it left there.
 */
import type { Logger } from '../../observability/logger.js';
import type { Broker, Consumer } from '../../ports/broker.js';
import { retry, type Sleep, sleep } from '../../time/retry.js';
import { retryGroup, type Topics } from '../topics.js';

export interface TierDiscoveryDeps {
  readonly broker: Pick<Broker, 'listTopics' | 'extent' | 'committed'>;
  readonly topics: Pick<Topics, 'isTier'>;
  readonly group: string;
  readonly logger: Logger;
  /** One more consumer of the retry group, of these tiers only. */
  readonly consume: (tiers: readonly string[]) => Promise<Consumer>;
  readonly pause?: Sleep;
}

export class TierDiscovery {
  readonly #deps: TierDiscoveryDeps;
  /** Records of each known tier that no consumer of this dispatcher reads; 0 if one does. */
  readonly #unread: Map<string, number>;
  readonly #consumers = new Set<Consumer>();

  /** @param read tiers that the dispatcher reads already */
  constructor(deps: TierDiscoveryDeps, read: readonly string[]) {
    this.#deps = deps;
    this.#unread = new Map(read.map((tier) => [tier, 0]));
  }

  /** Of the tiers that were found. */
  get consumers(): readonly Consumer[] {
    return [...this.#consumers];
  }

  get unread(): ReadonlyMap<string, number> {
    return this.#unread;
  }

  /** Looks for tiers now, and then ever less often, down to once in `everyMs`, until the signal aborts. Never rejects. */
  run(everyMs: number, signal: AbortSignal): Promise<void> {
    const read = new Set(this.#unread.keys());
    const { logger, pause = sleep } = this.#deps;
    const failed = (err: unknown) => logger.warn({ err }, 'could not read new retry tiers; retrying');
    return retry(() => this.#look(read, signal), { signal, failed, pause, longestPauseMs: everyMs });
  }

  /** @throws BrokerUnavailable */
  async #look(read: Set<string>, signal: AbortSignal): Promise<void> {
    const { broker, topics, logger, consume } = this.#deps;
    const found = (await broker.listTopics()).filter((topic) => topics.isTier(topic) && !read.has(topic));
    for (const tier of found) this.#unread.set(tier, await this.#countWaiting(tier));
    if (found.length === 0 || signal.aborted) return;
    const consumer = await consume(found);
    this.#consumers.add(consumer);
    for (const tier of found) {
      read.add(tier);
      this.#unread.set(tier, 0);
    }
    logger.info({ tiers: found }, 'reading retry tiers of another schedule');
    const ended = (err?: unknown) => {
      this.#consumers.delete(consumer);
      for (const tier of found) read.delete(tier);
      if (err) logger.error({ err, tiers: found }, 'could not read retry tiers of another schedule any more; retrying');
    };
    void consumer.closed.then(() => ended(), ended);
    if (signal.aborted) await consumer.close();
  }

  async #countWaiting(tier: string): Promise<number> {
    const { broker, group } = this.#deps;
    const committed = await broker.committed(retryGroup(group), tier);
    const extents = [...(await broker.extent(tier))];
    return extents.reduce((sum, [partition, { first, next }]) => sum + next - (committed.get(partition) ?? first), 0);
  }
}

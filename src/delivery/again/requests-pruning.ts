/**
 * Deletes the chains of requests that their topic has deleted, in the background and in small transactions with a rest after
 * each. A chain stays while anything waits that was published before its request, however long the service was stopped.
 */
import type { Logger } from '../../observability/logger.js';
import { type Broker, isTime } from '../../ports/broker.js';
import type { RequestChains } from '../../ports/request-chains.js';
import { retry, type Sleep, sleep } from '../../time/retry.js';
import { retryGroup, type Topics } from '../topics.js';

const EVERY_MS = 10 * 60_000;
/** About 5 ms. */
const PRUNED_TOGETHER = 500;
const REST_MS = 20;

export interface RequestsPruningParts {
  readonly broker: Pick<Broker, 'extent' | 'committed' | 'read' | 'listTopics'>;
  readonly topics: Topics;
  readonly group: string;
  readonly requestChains: RequestChains;
  readonly logger: Logger;
  readonly pause?: Sleep;
}

export class RequestsPruning {
  readonly #parts: RequestsPruningParts;

  constructor(parts: RequestsPruningParts) {
    this.#parts = parts;
  }

  /** Returns immediately. */
  start(signal: AbortSignal): void {
    const { logger, pause = sleep } = this.#parts;
    const failed = (err: unknown) => logger.warn({ err }, 'cannot prune the chains of requests; retrying');
    const round = async () => {
      await pause(EVERY_MS, signal);
      if (!signal.aborted) await this.prune(signal);
    };
    void retry(round, { signal, failed, pause });
  }

  /** @throws BrokerUnavailable, RequestChainsDamaged, RequestChainsUnusable */
  async prune(signal: AbortSignal): Promise<void> {
    const { broker, topics, requestChains, pause = sleep } = this.#parts;
    const { first = 0 } = (await broker.extent(topics.requests)).get(0) ?? {};
    const { lowest } = requestChains;
    // The chain of the first record that the topic has is the first offset plus one.
    if (lowest === null || lowest > first) return;
    const upTo = { chain: first, at: await this.#waitingSince() };
    while (!signal.aborted && requestChains.prune(PRUNED_TOGETHER, upTo) > 0) await pause(REST_MS, signal);
  }

  /** @returns when the oldest record was published that this installation is not done with, ms since the epoch */
  async #waitingSince(): Promise<number> {
    const { broker, topics, group } = this.#parts;
    const tiers = (await broker.listTopics()).filter(topics.isTier);
    const since = [
      ...(await Promise.all(topics.payments.map((topic) => this.#oldestOf(topic, group)))),
      ...(await Promise.all([...tiers, topics.requests].map((topic) => this.#oldestOf(topic, retryGroup(group))))),
    ];
    return Math.min(...since);
  }

  /** Of a topic whose records are all done: infinite. Of one whose oldest record has no time, or is a gap: before all times. */
  async #oldestOf(topic: string, group: string): Promise<number> {
    const { broker } = this.#parts;
    const committed = await broker.committed(group, topic);
    let oldest = Number.POSITIVE_INFINITY;
    for (const [partition, { first, next }] of await broker.extent(topic)) {
      const undone = Math.max(first, committed.get(partition) ?? 0);
      if (undone >= next) continue;
      const at = (await broker.read(topic, partition, undone))?.timestamp ?? Number.NaN;
      oldest = Math.min(oldest, isTime(at) ? at : Number.NEGATIVE_INFINITY);
    }
    return oldest;
  }
}

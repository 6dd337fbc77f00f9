/**
 * kafkajs has one time for all fetches of a consumer: how long Kafka waits for a record before it answers with none. Here each
 * fetch has its own: a fetch without the paused partitions ends soon, so that those that are resumed meanwhile are soon in
 * the next; a fetch with all partitions may wait, since any record ends it.
 */
import type { Cluster } from 'kafkajs';

interface FetchingBroker {
  fetch(request: object): Promise<unknown>;
}

interface Brokers {
  findBroker(of: object): Promise<FetchingBroker>;
}

/** @param client the consumer's own. @param waitMs called for each fetch */
export function waitInFetches(client: Cluster, waitMs: () => number): void {
  const cluster = client as unknown as Brokers;
  const find = cluster.findBroker.bind(cluster);
  const known = new WeakSet<FetchingBroker>();
  cluster.findBroker = async (of) => {
    const broker = await find(of);
    if (known.has(broker)) return broker;
    known.add(broker);
    const fetch = broker.fetch.bind(broker);
    broker.fetch = (request) => fetch({ ...request, maxWaitTime: waitMs() });
    return broker;
  };
}

/**
 * kafkajs has one time for all fetches of a consumer: how long Kafka waits for a record before it answers with none. Here each
 * fetch has its own: a fetch without the paused partitions ends soon, so that those that are resumed meanwhile are soon in
 * the next; a fetch with all partitions may wait, since any record ends it.
 */
import type { Cluster, KafkaMessage } from 'kafkajs';

interface FetchingBroker {
  fetch(request: object): Promise<Fetched>;
}

/** Offsets as text; -1 where a partition could not be fetched. */
export interface Fetched {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly highWatermark: string;
      readonly lastStableOffset: string;
      readonly messages: readonly KafkaMessage[];
    }[];
  }[];
}

interface Brokers {
  findBroker(of: object): Promise<FetchingBroker>;
}

/**
 * @param client the consumer's own. @param waitMs called for each fetch
 * @param fetched called with each answer: kafkajs passes on only those with records
 */
export function waitInFetches(client: Cluster, waitMs: () => number, fetched: (answer: Fetched) => void): void {
  const cluster = client as unknown as Brokers;
  const find = cluster.findBroker.bind(cluster);
  const known = new WeakSet<FetchingBroker>();
  cluster.findBroker = async (of) => {
    const broker = await find(of);
    if (known.has(broker)) return broker;
    known.add(broker);
    const fetch = broker.fetch.bind(broker);
    broker.fetch = async (request) => {
      const answer = await fetch({ ...request, maxWaitTime: waitMs() });
      fetched(answer);
      return answer;
    };
    return broker;
  };
}

/** A client of kafkajs for requests that its API lacks. It never joins its group. */
import type { Consumer, Kafka } from 'kafkajs';
import type { FetchedPartition } from './fetched/fetch-response.js';

interface PartitionMetadata {
  readonly partitionId: number;
  /** A node's id; -1: none. */
  readonly leader: number;
}

/** kafkajs's own, beyond its types. */
export interface AskedCluster {
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  findBroker(of: { readonly nodeId: string }): Promise<{
    fetch(request: object): Promise<{ readonly responses: readonly { partitions: readonly FetchedPartition[] }[] }>;
  }>;
  fetchTopicsOffset(
    of: readonly { topic: string; fromBeginning: boolean; partitions: readonly { partition: number }[] }[],
  ): Promise<readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]>;
}

export interface ClusterClient {
  readonly client: Consumer;
  /** @throws kafkajs's errors */
  readonly connected: Promise<AskedCluster>;
}

export function connectCluster(kafka: Kafka): ClusterClient {
  let own: unknown;
  const client = kafka.consumer({
    groupId: 'account-webhooks-asks',
    readUncommitted: true,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        own = cluster;
        return {
          name: 'none',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  return { client, connected: client.connect().then(() => own as AskedCluster) };
}

/** Once all started work has settled. Hazard: kafkajs reconnects for retries, and nothing closes that. Never rejects. */
export async function disconnectAfter(
  begun: Iterable<Promise<unknown>>,
  client: Pick<Consumer, 'disconnect'>,
): Promise<void> {
  await Promise.allSettled(begun);
  await client.disconnect().catch(() => undefined);
}

const [READ_UNCOMMITTED, READ_COMMITTED] = [0, 1];

export interface FetchFrom {
  readonly leader: number;
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: number }[];
  readonly uncommitted?: boolean | undefined;
  /** How long Kafka waits for a record before it answers with none. ms */
  readonly waitMs: number;
  /** Kafka answers before that with this many bytes. If absent, with any record. */
  readonly minBytes?: number;
  readonly mostBytes: number;
  readonly mostPartitionBytes: number;
}

/** @throws kafkajs's errors */
export async function fetchFrom(cluster: AskedCluster, of: FetchFrom): Promise<readonly FetchedPartition[]> {
  const node = await cluster.findBroker({ nodeId: String(of.leader) });
  const partitions = of.partitions.map(({ partition, offset }) => ({
    partition,
    fetchOffset: String(offset),
    maxBytes: of.mostPartitionBytes,
  }));
  const { responses } = await node.fetch({
    isolationLevel: of.uncommitted ? READ_UNCOMMITTED : READ_COMMITTED,
    maxWaitTime: of.waitMs,
    minBytes: of.minBytes ?? 1,
    maxBytes: of.mostBytes,
    topics: [{ topic: of.topic, partitions }],
  });
  return responses.flatMap((response) => response.partitions);
}

/** The ends of a topic's partitions. kafkajs's admin has their last stable offsets only. @throws kafkajs's errors */
export async function highWatermarks(kafka: Kafka, topic: string): Promise<ReadonlyMap<number, number>> {
  const { client, connected } = connectCluster(kafka);
  try {
    const cluster = await connected;
    await cluster.addTargetTopic(topic);
    const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId: partition }) => ({ partition }));
    const [found] = await cluster.fetchTopicsOffset([{ topic, fromBeginning: false, partitions }]);
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  } finally {
    await disconnectAfter([connected], client);
  }
}

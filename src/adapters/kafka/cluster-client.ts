/** A client of kafkajs for requests that its API lacks. It never joins its group. */
import type { Consumer, Kafka, KafkaMessage } from 'kafkajs';

interface PartitionMetadata {
  readonly partitionId: number;
  /** A node's id; -1: none. */
  readonly leader: number;
}

interface FetchOptions {
  readonly isolationLevel: number;
  readonly maxWaitTime: number;
  readonly maxBytes: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { partition: number; fetchOffset: string; maxBytes: number }[];
  }[];
}

export interface FetchedPartition {
  readonly partition: number;
  readonly highWatermark: string;
  readonly messages: readonly KafkaMessage[];
}

interface Node {
  fetch(options: FetchOptions): Promise<{
    readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[];
  }>;
}

/** kafkajs's own, beyond its types. */
export interface AskedCluster {
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly PartitionMetadata[];
  findBroker(of: { readonly nodeId: string }): Promise<Node>;
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

/** The ends of a topic's partitions. kafkajs's admin reports their last stable offsets only, up to which they can be read. */
import type { Cluster, Kafka } from 'kafkajs';
import { disconnectAfter } from './let-go.js';

/** kafkajs's own, beyond its types. */
interface AskedCluster {
  addTargetTopic(topic: string): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  fetchTopicsOffset(
    of: readonly { topic: string; fromBeginning: boolean; partitions: readonly { partition: number }[] }[],
  ): Promise<readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]>;
}

/** By partition. The client never joins its group. @throws kafkajs's errors */
export async function highWatermarks(kafka: Kafka, topic: string): Promise<ReadonlyMap<number, number>> {
  let own: Cluster | undefined;
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
  const connected = client.connect();
  try {
    await connected;
    const cluster = own as unknown as AskedCluster;
    await cluster.addTargetTopic(topic);
    const partitions = cluster.findTopicPartitionMetadata(topic).map(({ partitionId: partition }) => ({ partition }));
    const [found] = await cluster.fetchTopicsOffset([{ topic, fromBeginning: false, partitions }]);
    return new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  } finally {
    await disconnectAfter([connected], client);
  }
}

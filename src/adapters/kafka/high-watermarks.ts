/** The ends of a topic's partitions. kafkajs's admin reports their last stable offsets only, up to which they can be read. */
import type { Kafka } from 'kafkajs';
import { connectCluster } from './cluster-client.js';
import { disconnectAfter } from './kafkajs-repairs/let-go.js';

/** By partition. @throws kafkajs's errors */
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

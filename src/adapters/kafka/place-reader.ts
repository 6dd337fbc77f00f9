/**
 * Reads single records by their places: one fetch each, at the partition's leader, on a connection that stays. Of a batch
 * that is larger than its limit a fetch has all the same (KIP-74), so a limit of one byte gives the batch and no other.
 */
import type { Kafka, KafkaMessage } from 'kafkajs';
import type { ReceivedRecord } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import { onceKnown } from './admin-session.js';
import { type AskedCluster, type ClusterClient, connectCluster, disconnectAfter, fetchFrom } from './cluster-client.js';
import { isPassing, isUnknownTopic, translated } from './kafka-errors.js';
import { withLastFailure } from './kafkajs-repairs/sockets.js';
import { fromMessages } from './records.js';

/** Someone waits for the answer. */
const WITHIN_MS = 5_000;
/** Until the fetch answers that there is nothing. */
const WAIT_MS = 1;

interface TopicPartitionOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export class PlaceReader {
  readonly #kafka: Kafka;
  #connected: ClusterClient | null = null;
  readonly #reads = new Set<Promise<unknown>>();

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
  }

  /** Null if the record is gone, or can't be read. @throws BrokerUnavailable */
  async read(place: TopicPartitionOffset): Promise<ReceivedRecord | null> {
    const found = fromMessages(place, await this.#batchAt(place));
    return found.find((one): one is ReceivedRecord => 'offset' in one && one.offset === place.offset) ?? null;
  }

  /** Its messages; empty if it is gone. @throws BrokerUnavailable */
  async #batchAt(place: TopicPartitionOffset): Promise<readonly KafkaMessage[]> {
    const begunAt = performance.now();
    const used = this.#connected ?? connectCluster(this.#kafka);
    this.#connected = used;
    const reading = used.connected.then((cluster) => fetchedAnew(cluster, place));
    this.#reads.add(reading);
    const settled = () => void this.#reads.delete(reading);
    reading.then(settled, settled);
    try {
      return await withinTime(WITHIN_MS, reading);
    } catch (error) {
      // Also for a topic that is gone: kafkajs asks for all topics of a connection at once, and one that is gone fails the others.
      void this.#replace(used);
      if (isUnknownTopic(error)) return [];
      throw translated(withLastFailure(error, this.#kafka, begunAt));
    }
  }

  async close(): Promise<void> {
    if (this.#connected) await this.#replace(this.#connected);
  }

  #replace(used: ClusterClient): Promise<void> {
    if (this.#connected === used) this.#connected = null;
    return disconnectAfter([used.connected, ...this.#reads], used.client);
  }
}

/** What kafkajs knows of the cluster may be minutes old: before a record counts as gone, it is asked again. */
async function fetchedAnew(cluster: AskedCluster, place: TopicPartitionOffset): Promise<readonly KafkaMessage[]> {
  await cluster.addTargetTopic(place.topic);
  let isAgain = false;
  const fetching = async () => {
    if (isAgain) await cluster.refreshMetadata();
    isAgain = true;
    return fetched(cluster, place);
  };
  return onceKnown(fetching, isPassing);
}

/** @throws kafkajs's errors, or one like it */
async function fetched(
  cluster: AskedCluster,
  { topic, ...at }: TopicPartitionOffset,
): Promise<readonly KafkaMessage[]> {
  const metadata = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === at.partition);
  if (!metadata) throw unknownTopic();
  const of = { leader: metadata.leader, topic, partitions: [at], waitMs: WAIT_MS };
  const [answer] = await fetchFrom(cluster, { ...of, mostBytes: 1, mostPartitionBytes: 1 });
  if (answer?.fault?.kind === 'no-topic') throw unknownTopic();
  return answer?.messages ?? [];
}

function unknownTopic(): Error {
  return Object.assign(new Error('Kafka has no such partition'), { type: 'UNKNOWN_TOPIC_OR_PARTITION' });
}

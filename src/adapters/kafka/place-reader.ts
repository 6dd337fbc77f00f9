/**
 * Reads single records by their places: one fetch each, at the partition's leader, on a connection that stays. Of a batch
 * that is larger than its limit a fetch has all the same (KIP-74), so a limit of one byte gives the batch and no other.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka, KafkaMessage } from 'kafkajs';
import type { ReceivedRecord, UnreadableBatch } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import { type AskedCluster, type ClusterClient, connectCluster } from './cluster-client.js';
import { isUnreadable, lostIn } from './fetched/marks.js';
import { isLeaderMissing, isUnknownTopic, translated } from './kafka-errors.js';
import { disconnectAfter } from './kafkajs-repairs/let-go.js';
import { withLastFailure } from './kafkajs-repairs/socket-failures.js';
import { fromMessages } from './records.js';

/** Someone waits for the answer. */
const WITHIN_MS = 5_000;
/** While a partition has no leader, or moves to another. */
const MOST_TRIES = 10;
const TRY_AGAIN_MS = 200;
/** Until the fetch answers that there is nothing. */
const WAIT_MS = 1;
const READ_COMMITTED = 1;
/** Of the same bytes, before a batch counts as unreadable. */
const FETCHES = 3;

interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export class PlaceReader {
  readonly #kafka: Kafka;
  /** Null: the next read connects. */
  #connected: ClusterClient | null = null;
  readonly #reads = new Set<Promise<unknown>>();

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
  }

  /** Null if the record is gone, or can't be read. @throws BrokerUnavailable */
  async read(place: Place): Promise<ReceivedRecord | null> {
    const begunAt = performance.now();
    const used = this.#connected ?? connectCluster(this.#kafka);
    this.#connected = used;
    const reading = used.connected.then((cluster) => readFrom(cluster, place));
    this.#reads.add(reading);
    const settled = () => void this.#reads.delete(reading);
    reading.then(settled, settled);
    try {
      return await withinTime(WITHIN_MS, reading);
    } catch (error) {
      void this.#replace(used);
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

/**
 * Reads the batch twice more, each time on a new connection: what is between us and the broker may damage bytes too.
 * @returns whether all three have the same bytes, and are unreadable. @throws BrokerUnavailable
 */
export async function isStillUnreadable(kafka: Kafka, batch: UnreadableBatch): Promise<boolean> {
  for (let again = 1; again < FETCHES; again += 1) {
    if ((await digestAt(kafka, { ...batch, offset: batch.first })) !== batch.digest) return false;
  }
  return true;
}

async function digestAt(kafka: Kafka, place: Place): Promise<string | null> {
  const { client, connected } = connectCluster(kafka);
  const reading = connected.then(async (cluster) => {
    await cluster.addTargetTopic(place.topic);
    return fetchedAnew(cluster, place);
  });
  try {
    return (await withinTime(WITHIN_MS, reading)).find(isUnreadable)?.unreadable.digest ?? null;
  } catch (error) {
    throw translated(error);
  } finally {
    void disconnectAfter([reading], client);
  }
}

async function readFrom(cluster: AskedCluster, place: Place): Promise<ReceivedRecord | null> {
  try {
    await cluster.addTargetTopic(place.topic);
  } catch (error) {
    if (isUnknownTopic(error)) return null;
    throw error;
  }
  const messages = await fetchedAnew(cluster, place);
  const found = fromMessages(place, messages).find((one) => 'offset' in one && one.offset === place.offset);
  return found && 'offset' in found ? found : null;
}

/** What kafkajs knows of the cluster may be minutes old: before a record counts as gone, it is asked again. */
async function fetchedAnew(cluster: AskedCluster, place: Place): Promise<readonly KafkaMessage[]> {
  for (let tries = 1; ; tries += 1) {
    const messages = await fetched(cluster, place).catch((error: unknown) => {
      if (!isPassing(error) || tries === MOST_TRIES) throw error;
      return null;
    });
    const lost = messages === 'no-partition' ? 'topic' : messages && lostIn(messages);
    if (lost === 'offset' || (lost === 'topic' && tries > 1)) return [];
    if (messages !== null && messages !== 'no-partition' && !lost) return messages;
    if (messages === null) await delay(TRY_AGAIN_MS);
    await cluster.refreshMetadata();
  }
}

async function fetched(cluster: AskedCluster, { topic, partition, offset }: Place) {
  const metadata = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  if (!metadata) return 'no-partition';
  const leader = await cluster.findBroker({ nodeId: String(metadata.leader) });
  const { responses } = await leader.fetch({
    isolationLevel: READ_COMMITTED,
    maxWaitTime: WAIT_MS,
    maxBytes: 1,
    topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes: 1 }] }],
  });
  return responses.flatMap(({ partitions }) => partitions.flatMap(({ messages }) => messages));
}

/** The leader moves, is missing, or just left the cluster. */
function isPassing(error: unknown): boolean {
  return isLeaderMissing(error) || (error as Error | null)?.name === 'KafkaJSBrokerNotFound';
}

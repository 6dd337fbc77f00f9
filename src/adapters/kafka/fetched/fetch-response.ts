/**
 * Decodes a fetch response (version 11, Kafka 2.3 and later). An unreadable batch becomes a message in its own partition, and
 * some of Kafka's errors a fault of theirs. By default kafkajs fails the fetch, and with it all partitions: permanently for
 * an unreadable batch, for many seconds for a missing topic. After a missing offset it silently goes on elsewhere.
 */
import kafkajs, { type KafkaMessage } from 'kafkajs';
import { Decoder, type FetchParameters, fetchProtocol } from '../kafkajs-repairs/kafkajs-internals.js';
import { type AbortedTransaction, beginsWithBatch, messagesOf } from './record-set.js';

const VERSION = 11;

/** Why a partition has no messages: its topic is gone, its log lacks the offset, or nobody can read it from there on. */
interface Fault {
  readonly kind: 'no-topic' | 'no-offset' | 'unreadable';
  readonly reason: string;
}

/** By Kafka's error code. */
const FAULTS = new Map<number, Fault>([
  [-1, unreadable('the broker can not read its log (UNKNOWN_SERVER_ERROR)')],
  [1, { kind: 'no-offset', reason: 'OFFSET_OUT_OF_RANGE' }],
  [2, unreadable('the broker can not read its log (CORRUPT_MESSAGE)')],
  [3, { kind: 'no-topic', reason: 'UNKNOWN_TOPIC_OR_PARTITION' }],
  [87, unreadable('the broker can not read its log (INVALID_RECORD)')],
]);
const NO_LENGTH = unreadable('a batch has an invalid length');

/** One partition of an answer; offsets as text, -1 where it could not be fetched. */
export interface FetchedPartition {
  readonly partition: number;
  /** The fetched offset. */
  readonly from: number;
  readonly highWatermark: string;
  readonly fault: Fault | null;
  readonly messages: readonly KafkaMessage[];
}

/** A broker reads the high watermark before the log: records may be added meanwhile. A higher offset is damage. */
const MEANWHILE = 1_000_000;
/** Held per fetch, decompressed and with the overhead of headers; the last batch may exceed it. The rest is fetched again. */
const MOST_BYTES_A_FETCH = 32 * 1024 * 1024;

export function installFetchDecoding(): void {
  const { protocol } = fetchProtocol;
  fetchProtocol.protocol = ({ version }) => {
    const call = protocol({ version });
    if (Number(version) < VERSION) throw new kafkajs.KafkaJSNonRetriableError('Kafka before 2.3 can not be read');
    if (!call) return call;
    return (parameters) => {
      const made = call(parameters);
      const decode = (raw: Buffer) => decoded(raw, parameters);
      return { ...made, response: { ...made.response, decode } };
    };
  };
}

interface Fetching {
  readonly topic: string;
  readonly asked: FetchParameters;
  readonly budget: { bytes: number };
}

async function decoded(raw: Buffer, asked: FetchParameters): Promise<object> {
  const decoder = new Decoder(raw);
  const clientSideThrottleTime = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const sessionId = decoder.readInt32();
  const budget = { bytes: MOST_BYTES_A_FETCH };
  const responses = await decoder.readArrayAsync(async (of) => {
    const topicName = of.readString() ?? '';
    const fetching = { topic: topicName, asked, budget };
    return { topicName, partitions: await of.readArrayAsync((partition) => decodedPartition(partition, fetching)) };
  });
  return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses };
}

async function decodedPartition(
  decoder: Decoder,
  { topic, asked, budget }: Fetching,
): Promise<FetchedPartition & { readonly errorCode: number }> {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const highWatermark = decoder.readInt64();
  // The last stable offset, and the first one of the log.
  decoder.readInt64();
  decoder.readInt64();
  const aborted = decoder.readArray(abortedTransaction);
  const preferredReadReplica = decoder.readInt32();
  const size = decoder.readInt32();
  const set = size > 0 ? decoder.readBytes(size) : Buffer.alloc(0);
  const from = fetchedOffset(asked, topic, partition);
  const fault = FAULTS.get(errorCode) ?? (beginsWithBatch(set) ? null : NO_LENGTH);
  const end = Number(highWatermark) + MEANWHILE;
  const answer = {
    partition,
    from,
    fault,
    errorCode: fault ? 0 : errorCode,
    highWatermark: String(highWatermark),
    // Left out: kafkajs lets records through if two transactions were aborted.
    abortedTransactions: [],
    preferredReadReplica,
    messages: fault ? [] : await messagesOf(set, { from, end, aborted, budget }),
  };
  return answer;
}

function unreadable(reason: string): Fault {
  return { kind: 'unreadable', reason };
}

function fetchedOffset({ topics }: FetchParameters, name: string, number: number): number {
  const partitions = topics.find(({ topic }) => topic === name)?.partitions;
  return Number(partitions?.find(({ partition }) => partition === number)?.fetchOffset ?? 0);
}

function abortedTransaction(decoder: Decoder): AbortedTransaction {
  return { producerId: decoder.readInt64(), firstOffset: Number(decoder.readInt64()) };
}

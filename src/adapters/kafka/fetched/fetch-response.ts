/**
 * Decodes a fetch response (version 11, Kafka 2.3 and later). An unreadable batch becomes a message in its own partition; so
 * does a missing topic or offset. By default kafkajs fails the fetch, and with it all partitions: permanently for an
 * unreadable batch, for many seconds for a missing topic.
 */
import kafkajs, { type KafkaMessage } from 'kafkajs';
import { Decoder, type FetchParameters, fetchProtocol } from '../kafkajs-repairs/kafkajs-internals.js';
import { type Lost, lost, refusal } from './marks.js';
import { type AbortedTransaction, messagesOf } from './record-set.js';

const VERSION = 11;
/** Errors in one partition's log, for which kafkajs would fail all partitions of the fetch. */
const DAMAGED = new Map([
  [-1, 'UNKNOWN_SERVER_ERROR'],
  [2, 'CORRUPT_MESSAGE'],
  [87, 'INVALID_RECORD'],
]);
/** After these, kafkajs silently goes on in the recreated topic, or at the start of its log. */
const LOST = new Map<number, Lost>([
  [1, 'offset'],
  [3, 'topic'],
]);
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

async function decodedPartition(decoder: Decoder, { topic, asked, budget }: Fetching) {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const highWatermark = decoder.readInt64();
  const lastStableOffset = decoder.readInt64();
  const lastStartOffset = decoder.readInt64();
  const aborted = decoder.readArray(abortedTransaction);
  const preferredReadReplica = decoder.readInt32();
  const size = decoder.readInt32();
  const set = size > 0 ? decoder.readBytes(size) : Buffer.alloc(0);
  const from = fetchedOffset(asked, topic, partition);
  const instead = insteadOf(errorCode, from);
  const end = Number(highWatermark) + MEANWHILE;
  return {
    partition,
    errorCode: instead ? 0 : errorCode,
    highWatermark: String(highWatermark),
    lastStableOffset: String(lastStableOffset),
    lastStartOffset: String(lastStartOffset),
    // Left out: kafkajs lets records through if two transactions were aborted.
    abortedTransactions: [],
    preferredReadReplica,
    messages: instead ? [instead] : await messagesOf(set, { from, end, aborted, budget }),
  };
}

function insteadOf(errorCode: number, from: number): KafkaMessage | null {
  const what = LOST.get(errorCode);
  if (what) return lost(from, what);
  const damage = DAMAGED.get(errorCode);
  return damage === undefined ? null : refusal(from, `the broker can not read its log (${damage})`);
}

function fetchedOffset({ topics }: FetchParameters, name: string, number: number): number {
  const partitions = topics.find(({ topic }) => topic === name)?.partitions;
  return Number(partitions?.find(({ partition }) => partition === number)?.fetchOffset ?? 0);
}

function abortedTransaction(decoder: Decoder): AbortedTransaction {
  return { producerId: decoder.readInt64(), firstOffset: Number(decoder.readInt64()) };
}

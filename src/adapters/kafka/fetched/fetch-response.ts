/**
 * Decodes a fetch response (version 11, Kafka 2.3 and later). An unreadable batch becomes a message in its own partition; so
 * does a missing topic or offset. By default kafkajs fails the fetch, and with it all partitions: permanently for an
 * unreadable batch, for many seconds for a missing topic.
 */
import type { KafkaMessage } from 'kafkajs';
import { Decoder, type FetchParameters, fetchProtocol } from '../kafkajs-repairs/kafkajs-internals.js';
import { installCodecs } from './codecs.js';
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
/**
 * A broker reads the high watermark before the log: the response may contain records added meanwhile. Damage that claims a
 * higher offset is detected by this limit.
 */
const MEANWHILE = 1_000_000;
/** Held per fetch, decompressed and with the overhead of headers; the last batch may exceed it. The rest is fetched again. */
const MOST_BYTES_A_FETCH = 32 * 1024 * 1024;

/** For every client of kafkajs in this process, once. */
export function installFetchDecoding(): void {
  installCodecs();
  const { protocol } = fetchProtocol;
  fetchProtocol.protocol = ({ version }) => {
    const call = protocol({ version });
    if (Number(version) !== VERSION || !call) return call;
    return (parameters) => {
      const made = call(parameters);
      const decode = (raw: Buffer) => new FetchResponse(parameters).decode(raw);
      return { ...made, response: { ...made.response, decode } };
    };
  };
}

/** In the order of the fields on the wire. */
class FetchResponse {
  readonly #asked: FetchParameters;
  readonly #budget = { bytes: MOST_BYTES_A_FETCH };

  constructor(asked: FetchParameters) {
    this.#asked = asked;
  }

  async decode(raw: Buffer): Promise<object> {
    const decoder = new Decoder(raw);
    const clientSideThrottleTime = decoder.readInt32();
    const errorCode = decoder.readInt16();
    const sessionId = decoder.readInt32();
    const responses = await decoder.readArrayAsync((of) => this.#topic(of));
    return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses };
  }

  async #topic(decoder: Decoder) {
    const topicName = decoder.readString() ?? '';
    return { topicName, partitions: await decoder.readArrayAsync((of) => this.#partition(of, topicName)) };
  }

  async #partition(decoder: Decoder, topic: string) {
    const partition = decoder.readInt32();
    const errorCode = decoder.readInt16();
    const highWatermark = decoder.readInt64();
    const lastStableOffset = decoder.readInt64();
    const lastStartOffset = decoder.readInt64();
    const aborted = decoder.readArray(abortedTransaction);
    const preferredReadReplica = decoder.readInt32();
    const size = decoder.readInt32();
    const set = size > 0 ? decoder.readBytes(size) : Buffer.alloc(0);
    const from = this.#fetchedOffset(topic, partition);
    const offsets = { highWatermark, lastStableOffset, lastStartOffset };
    return {
      partition,
      errorCode: DAMAGED.has(errorCode) || LOST.has(errorCode) ? 0 : errorCode,
      ...Object.fromEntries(Object.entries(offsets).map(([name, offset]) => [name, String(offset)])),
      // Left out: kafkajs lets records through if two transactions were aborted.
      abortedTransactions: [],
      preferredReadReplica,
      messages: await this.#messages(set, {
        from,
        end: Number(highWatermark) + MEANWHILE,
        aborted,
        errorCode,
      }),
    };
  }

  async #messages(set: Buffer, { errorCode, ...of }: OfPartition): Promise<KafkaMessage[]> {
    const what = LOST.get(errorCode);
    if (what) return [lost(of.from, what)];
    const damage = DAMAGED.get(errorCode);
    if (damage !== undefined) return [refusal(of.from, `the broker can not read its log (${damage})`)];
    return messagesOf(set, { ...of, budget: this.#budget });
  }

  #fetchedOffset(name: string, number: number): number {
    const asked = this.#asked.topics.find(({ topic }) => topic === name);
    return Number(asked?.partitions.find(({ partition }) => partition === number)?.fetchOffset ?? 0);
  }
}

interface OfPartition {
  readonly from: number;
  readonly end: number;
  readonly aborted: readonly AbortedTransaction[];
  readonly errorCode: number;
}

function abortedTransaction(decoder: Decoder): AbortedTransaction {
  return { producerId: decoder.readInt64(), firstOffset: Number(decoder.readInt64()) };
}

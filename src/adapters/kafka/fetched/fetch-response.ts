/**
 * The response to a fetch (version 11, Kafka 2.3 and later), decoded so that a batch that can't be read stands in its own
 * partition as a message of its own. By itself kafkajs fails the fetch, and with it all partitions, for ever.
 */
import type { KafkaMessage } from 'kafkajs';
import { installCodecs } from './codecs.js';
import { Decoder, fetchProtocol } from './kafkajs-internals.js';
import { messagesOf, refusal } from './record-batch.js';

const VERSION = 11;
/** What is wrong with one partition's log: kafkajs would fail all that were fetched with it. */
const DAMAGED = new Map([
  [-1, 'UNKNOWN_SERVER_ERROR'],
  [2, 'CORRUPT_MESSAGE'],
  [87, 'INVALID_RECORD'],
]);
let isInstalled = false;

/** For every client of kafkajs in this process, once. */
export function installFetchDecoding(): void {
  if (isInstalled) return;
  isInstalled = true;
  installCodecs();
  const { protocol } = fetchProtocol;
  fetchProtocol.protocol = ({ version }) => {
    const call = protocol({ version });
    if (Number(version) !== VERSION || !call) return call;
    return (parameters) => {
      const made = call(parameters);
      return { ...made, response: { ...made.response, decode } };
    };
  };
}

async function decode(raw: Buffer): Promise<object> {
  const decoder = new Decoder(raw);
  const clientSideThrottleTime = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const sessionId = decoder.readInt32();
  const responses = await decoder.readArrayAsync(topic);
  return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses };
}

async function topic(decoder: Decoder) {
  return { topicName: decoder.readString(), partitions: await decoder.readArrayAsync(partition) };
}

/** In the order of the fields on the wire. */
async function partition(decoder: Decoder) {
  const head = {
    partition: decoder.readInt32(),
    errorCode: decoder.readInt16(),
    highWatermark: decoder.readInt64().toString(),
    lastStableOffset: decoder.readInt64().toString(),
    lastStartOffset: decoder.readInt64().toString(),
    abortedTransactions: decoder.readArray(abortedTransaction),
    preferredReadReplica: decoder.readInt32(),
  };
  const read = await messages(decoder, Number(head.highWatermark));
  const damage = DAMAGED.get(head.errorCode);
  if (damage === undefined) return { ...head, messages: read };
  return { ...head, errorCode: 0, messages: [refusal(`the broker can not read its log (${damage})`)] };
}

function abortedTransaction(decoder: Decoder) {
  return { producerId: decoder.readInt64().toString(), firstOffset: decoder.readInt64().toString() };
}

async function messages(decoder: Decoder, end: number): Promise<KafkaMessage[]> {
  const size = decoder.readInt32();
  return size > 0 ? messagesOf(decoder.readBytes(size), end) : [];
}

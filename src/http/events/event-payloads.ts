/** The payloads of events, read from their topics by their places. */
import { readPaymentText } from '../../delivery/record-place.js';
import type { Broker } from '../../ports/broker.js';
import type { ReadLimit } from '../read-limit.js';

const AT_A_TIME = 8;
/** A payload has up to 256 KiB. */
const MOST_BYTES = 2 * 1024 * 1024;
/** Of this process, for each payload. */
const MS_A_READ = 0.1;
const BYTES_A_MS = 512 * 1024;

/** As published, as text; null: the topic no longer has it. @throws BrokerUnavailable */
async function payloadOf(broker: Pick<Broker, 'read'>, payment: string): Promise<string | null> {
  const place = readPaymentText(payment);
  if (!place) return null;
  const record = await broker.read(place.topic, place.partition, place.offset);
  // A recreated topic has other records at the same offsets.
  return record?.timestamp === place.at ? (record.value?.toString('utf8') ?? null) : null;
}

/**
 * The payloads of the first events: of all, or of fewer if they exceed MOST_BYTES.
 * @throws BrokerUnavailable; ApiError 429
 */
export async function firstPayloads(
  broker: Pick<Broker, 'read'>,
  reads: ReadLimit,
  accountId: number,
  payments: readonly string[],
): Promise<readonly (string | null)[]> {
  const payloads: (string | null)[] = [];
  let bytes = 0;
  while (payloads.length < payments.length && bytes < MOST_BYTES) {
    const some = payments.slice(payloads.length, payloads.length + AT_A_TIME);
    const read = await Promise.all(some.map((payment) => payloadOf(broker, payment)));
    const characters = read.reduce((sum, payload) => sum + (payload?.length ?? 0), 0);
    payloads.push(...read);
    bytes += characters;
    await reads.spend(accountId, some.length * MS_A_READ + characters / BYTES_A_MS);
  }
  return payloads;
}

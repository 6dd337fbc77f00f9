/** The payloads of events, read from their topics by their places. */
import type { ReceivedRecord } from '../../ports/broker.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import type { ReadLimit } from '../rate-limit.js';

const AT_A_TIME = 8;
/** A payload has up to 256 KiB. */
const MOST_BYTES = 2 * 1024 * 1024;
/** Of this process, for each payload. */
const MS_A_READ = 0.1;
const BYTES_A_MS = 512 * 1024;

/**
 * The payloads of the first events, as text: of all, or of fewer if they exceed MOST_BYTES. Null: its topic has lost it.
 * @throws BrokerUnavailable; ApiError 429
 */
export async function firstPayloads(
  published: Pick<PublishedPayloads, 'record'>,
  reads: ReadLimit,
  accountId: number,
  payments: readonly string[],
): Promise<readonly (string | null)[]> {
  const payloads: (string | null)[] = [];
  let bytes = 0;
  while (payloads.length < payments.length && bytes < MOST_BYTES) {
    const some = payments.slice(payloads.length, payloads.length + AT_A_TIME);
    const read = await Promise.all(some.map(async (payment) => textOf(await published.record(payment))));
    const characters = read.reduce((sum, payload) => sum + (payload?.length ?? 0), 0);
    payloads.push(...read);
    bytes += characters;
    await reads.spend(accountId, some.length * MS_A_READ + characters / BYTES_A_MS);
  }
  return payloads;
}

/** Bytes that are no UTF-8 become U+FFFD. */
export function textOf(record: ReceivedRecord | null): string | null {
  return record && (record.value?.toString('utf8') ?? '');
}

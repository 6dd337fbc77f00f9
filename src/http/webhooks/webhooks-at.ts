/**
 * An account's webhooks at a point in time, from its whole history up to then. A history has no upper bound, so its reading is
 * paced and charged like any other read (read-limit.ts): an account pays for its own history, and other requests come between.
 */
import { configurationAt } from '../../audit/configuration-at.js';
import type { EventStore, RecordedEvent } from '../../ports/event-store.js';
import { bytesOf } from '../../webhooks/history-budget.js';
import type { Webhook } from '../../webhooks/state.js';
import type { ReadLimit } from '../read-limit.js';

/** Measured, reading and folding: 20,000 events of 400 bytes took 210 ms of CPU, 1,000 of 20 KB took 90 ms. */
const MS_AN_EVENT = 0.01;
const BYTES_A_MS = 200 * 1024;
const MS_A_TURN = 1;

/**
 * In order of creation; none before the account was registered.
 * @param at ms since the epoch, inclusive
 * @throws ApiError 429; StoreUnavailable; AccountUnreadable
 */
export async function webhooksAt(
  store: Pick<EventStore, 'read'>,
  reads: ReadLimit,
  accountId: number,
  at: number,
): Promise<readonly Webhook[]> {
  const read: EventStore['read'] = (stream) => paced(store.read(stream), reads, accountId);
  return (await configurationAt({ read }, accountId, at)) ?? [];
}

async function* paced(events: AsyncIterable<RecordedEvent>, reads: ReadLimit, accountId: number) {
  let ms = 0;
  for await (const event of events) {
    yield event;
    ms += MS_AN_EVENT + bytesOf([event]) / BYTES_A_MS;
    if (ms < MS_A_TURN) continue;
    await reads.spend(accountId, ms);
    ms = 0;
  }
  await reads.spend(accountId, ms);
}

/** An account's webhooks at a point in time, from its whole history up to then. */
import { configurationAt } from '../../audit/log.js';
import type { EventStore } from '../../ports/event-store.js';
import type { Webhook } from '../../webhooks/state.js';
import { pacedHistory, type ReadLimit } from '../rate-limit.js';

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
  const read: EventStore['read'] = (stream) => pacedHistory(store.read(stream), reads, accountId);
  return (await configurationAt({ read }, accountId, at)) ?? [];
}

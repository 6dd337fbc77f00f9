/**
 * Checks the metadata of accounts' streams. EventStoreDB hides events by it, and a scavenge removes them; an account is read
 * from its first event, so no stream of an account may have such a limit. A limit that has hidden nothing yet is reported too.
 */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { storedBatches } from '../read-model/stored-events.js';
import { ACCOUNT_STREAM_PREFIX } from '../webhooks/events.js';
import { type Finding, ok, warn } from './check.js';

/** The stream `$$account-7` contains the metadata of `account-7`. */
const METADATA_PREFIX = '$$';
const ALL_STREAM = '$all';
const LIMITS = ['$maxAge', '$maxCount', '$tb'] as const;
/** The $tb of a deleted stream is the largest possible one; JSON.parse rounds it up. */
const DELETED = 2 ** 63;
const MAX_NAMED = 5;
const REMEDY =
  "remove $maxAge and $maxCount from the stream's metadata; undelete a stream by writing its metadata without $tb twice: " +
  "docs/operations.md, Metadata of accounts' streams";

/** Reads metadata through `$all`, as accounts are read: the user of EVENT_STORE_URL needs no further permission. */
export async function checkStreamMetadata(store: Pick<EventStore, 'subscribe'>): Promise<readonly Finding[]> {
  const prefixes = [ALL_STREAM, ACCOUNT_STREAM_PREFIX];
  const limits = (await Promise.all(prefixes.map((prefix) => readLimits(store, prefix)))).flat();
  if (limits.length === 0) return [ok('no stream of an account has metadata that hides events')];
  const named = limits.slice(0, MAX_NAMED).join(', ');
  const others = limits.length > MAX_NAMED ? `, and ${limits.length - MAX_NAMED} others` : '';
  return [warn(`stream metadata hides events of accounts, and a scavenge removes them: ${named}${others}`, REMEDY)];
}

/** From the latest metadata of each stream: `account-7 ($maxAge 3600)`. */
async function readLimits(store: Pick<EventStore, 'subscribe'>, prefix: string): Promise<string[]> {
  const latest = new Map<string, string>();
  for await (const { events } of storedBatches(store, null, `${METADATA_PREFIX}${prefix}`)) {
    for (const { stream, data } of events) latest.set(stream.slice(METADATA_PREFIX.length), formatLimits(data));
  }
  return [...latest].filter(([, limits]) => limits !== '').map(([stream, limits]) => `${stream} (${limits})`);
}

/** The server ignores values that are not positive. */
function formatLimits(data: RecordedEvent['data']): string {
  const limits = LIMITS.map((name) => [name, Number(data[name])] as const).filter(([, value]) => value > 0);
  return limits
    .map(([name, value]) => (name === '$tb' && value >= DELETED ? 'deleted' : `${name} ${value}`))
    .join(', ');
}

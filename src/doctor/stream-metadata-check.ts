/**
 * EventStoreDB hides events by a stream's metadata, and a scavenge removes them. An account is read from its first event
 * on, so none of that may be set for its stream.
 */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { storedBatches } from '../read-model/stored-events.js';
import { ACCOUNT_STREAM_PREFIX } from '../webhooks/events.js';
import { type Finding, ok, warn } from './check.js';

/** Of the stream that holds the metadata of another. */
const METADATA = '$$';
const ALL = '$all';
const LIMITS = ['$maxAge', '$maxCount', '$tb'] as const;
/** The $tb of a deleted stream is the largest possible; JSON.parse rounds it up. */
const DELETED = 2 ** 63;
const NAMED = 5;
const REMEDY =
  "remove $maxAge and $maxCount from the stream's metadata; undelete a stream by writing its metadata without $tb twice: " +
  "docs/operations.md, Metadata of accounts' streams";

/** Metadata is read through `$all`, like the accounts: no further right is needed. */
export async function accountStreamMetadata({ store }: { readonly store: EventStore }): Promise<readonly Finding[]> {
  const prefixes = [ALL, ACCOUNT_STREAM_PREFIX];
  const limits = (await Promise.all(prefixes.map((prefix) => limitsOf(store, prefix)))).flat();
  if (limits.length === 0) return [ok('no account has events that its metadata hides')];
  const named = limits.slice(0, NAMED).join(', ');
  const others = limits.length > NAMED ? `, and ${limits.length - NAMED} others` : '';
  return [warn(`metadata hides events of accounts, which a scavenge removes: ${named}${others}`, REMEDY)];
}

/** By the last metadata of each stream: `account-7 ($maxAge 3600)`. */
async function limitsOf(store: EventStore, prefix: string): Promise<string[]> {
  const last = new Map<string, string>();
  for await (const { events } of storedBatches(store, null, `${METADATA}${prefix}`)) {
    for (const { stream, data } of events) last.set(stream.slice(METADATA.length), limitsIn(data));
  }
  return [...last].filter(([, limits]) => limits !== '').map(([stream, limits]) => `${stream} (${limits})`);
}

function limitsIn(data: RecordedEvent['data']): string {
  const limits = LIMITS.filter((name) => Number(data[name]) > 0);
  return limits.map((name) => limitText(name, Number(data[name]))).join(', ');
}

function limitText(name: string, value: number): string {
  return name === '$tb' && value >= DELETED ? 'deleted' : `${name} ${value}`;
}

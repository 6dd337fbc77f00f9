/** Reads a topic once, up to its end: for the audit, commands, and what a process knows before it begins. */
import type { Broker, Extent, FollowedPage, Positions, ReceivedRecord, UnreadableBatch } from './broker.js';

/** From an offset, inclusive, to another one, exclusive. */
interface OffsetRange {
  readonly from: number;
  readonly to?: number;
}

type Ranges = ReadonlyMap<number, OffsetRange>;

export interface TopicRecordsOptions {
  /** By partition; unnamed partitions are left out. Without it: all partitions, from the oldest record. */
  readonly ranges?: Ranges;
  /** Includes records of open and aborted transactions, and those held back. */
  readonly uncommitted?: boolean;
  /** Called for each unreadable batch, in order. */
  readonly onUnreadable?: (batch: UnreadableBatch) => void;
}

export type RecordsBroker = Pick<Broker, 'extent' | 'follow'>;

/**
 * Every record that is published by now, in offset order within a partition. Missing topic: none.
 * @throws BrokerUnavailable, also where the broker can't read a partition on
 */
export async function* topicRecords(
  broker: RecordsBroker,
  topic: string,
  { ranges, uncommitted = false, onUnreadable }: TopicRecordsOptions = {},
): AsyncIterable<ReceivedRecord> {
  if (ranges?.size === 0) return;
  const parts = partsOf(await broker.extent(topic), ranges, uncommitted);
  if (parts.size === 0) return;
  const positions: Positions = new Map(
    [...parts].map(([partition, { from }]) => [partition, { offset: from, before: null }]),
  );
  const ending = new AbortController();
  const options = { signal: ending.signal, partitions: new Set(parts.keys()), uncommitted };
  try {
    for await (const page of broker.follow(topic, positions, options)) {
      const { to = 0 } = parts.get(page.partition) ?? {};
      yield* readable(page.items, to, onUnreadable);
      if (page.position.offset >= to) parts.delete(page.partition);
      if (parts.size === 0) return;
    }
  } finally {
    ending.abort();
  }
}

function* readable(items: FollowedPage['items'], to: number, onUnreadable: TopicRecordsOptions['onUnreadable']) {
  for (const item of items) {
    if ('offset' in item) {
      if (item.offset < to) yield item;
    } else onUnreadable?.(item);
  }
}

/** The partitions that have something to read, and how far. */
function partsOf(extents: ReadonlyMap<number, Extent>, ranges: Ranges | undefined, uncommitted: boolean) {
  const parts = new Map<number, { readonly from: number; readonly to: number }>();
  for (const [partition, { first, next, stable = next }] of extents) {
    const range = ranges ? ranges.get(partition) : { from: first };
    if (!range) continue;
    const from = Math.max(range.from, first);
    const to = Math.min(range.to ?? Number.POSITIVE_INFINITY, uncommitted ? next : stable);
    if (from < to) parts.set(partition, { from, to });
  }
  return parts;
}

/**
 * Reads a topic from its oldest record, or from given offsets, up to its end at the start, or continuously. kafkajs fetches
 * only in a group, so each read uses its own temporary group, which commits nothing and is deleted at the end.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import {
  BrokerUnavailable,
  type BrowseOptions,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { lostIn, refusalIn } from './fetched/marks.js';
import { translated } from './kafka-errors.js';
import { fromMessages } from './records.js';
import type { PartitionOffsets, TopicAdmin } from './topic-admin.js';

/** No record arrived for that long, although there are some: Kafka is unreachable. */
const SILENCE_MS = 20_000;

interface Range {
  /** The offset to read next: after a rejoin kafkajs starts over. */
  position: number;
  /** The offset to stop before. */
  readonly end: number;
}

export async function* browseTopic(
  kafka: Kafka,
  admin: TopicAdmin,
  topic: string,
  options: BrowseOptions,
): AsyncIterable<ReceivedRecord> {
  const ranges = rangesOf(await admin.offsets(topic), options);
  if (ranges.size === 0) return;
  const groupId = `account-webhooks-browse-${randomUUID()}`;
  const { uncommitted: readUncommitted = false } = options;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100, allowAutoTopicCreation: false, readUncommitted });
  try {
    yield* new Browsing(consumer, ranges, options).read(topic);
  } finally {
    await consumer.disconnect().catch(() => undefined);
    await admin.deleteGroup(groupId).catch(() => undefined);
  }
}

function rangesOf(
  offsets: readonly PartitionOffsets[],
  { ranges, follow, uncommitted }: BrowseOptions,
): Map<number, Range> {
  const read = new Map<number, Range>();
  for (const { partition, low, high } of offsets) {
    const range = ranges ? ranges.get(partition) : { from: low };
    if (!range) continue;
    const { from, to = Number.POSITIVE_INFINITY } = range;
    const end = Math.min(to, follow || uncommitted ? Number.POSITIVE_INFINITY : high);
    if (from < end) read.set(partition, { position: Math.max(from, low), end });
  }
  return read;
}

class Browsing {
  readonly #consumer: Consumer;
  readonly #options: BrowseOptions;
  readonly #target = new EventTarget();
  /** Of partitions not yet read to their end. */
  readonly #ranges: Map<number, Range>;
  #batches: (ReceivedRecord | UnreadableBatch)[][] = [];
  #taken: () => void = () => undefined;
  #failure: Error | null = null;
  #lastSign = performance.now();

  constructor(consumer: Consumer, ranges: Map<number, Range>, options: BrowseOptions) {
    this.#consumer = consumer;
    this.#ranges = ranges;
    this.#options = options;
  }

  async *read(topic: string): AsyncIterable<ReceivedRecord> {
    const { follow, onUnreadable } = this.#options;
    const changed = () => this.#changed();
    follow?.addEventListener('abort', changed);
    try {
      await this.#start(topic);
      while (!follow?.aborted && (this.#batches.length > 0 || this.#ranges.size > 0)) {
        for (const item of this.#batches.shift() ?? (await this.#next())) {
          if ('digest' in item) onUnreadable?.(item);
          else yield item;
        }
        this.#taken();
      }
    } finally {
      follow?.removeEventListener('abort', changed);
      // If the caller stops early: an untaken batch would keep the consumer from closing.
      this.#ranges.clear();
      this.#taken();
    }
  }

  async #start(topic: string): Promise<void> {
    const { CRASH, FETCH_START, GROUP_JOIN } = this.#consumer.events;
    this.#consumer.on(CRASH, ({ payload }) => {
      if (!payload.restart) this.#failed(translated(payload.error));
    });
    const alive = () => {
      this.#lastSign = performance.now();
    };
    this.#consumer.on(GROUP_JOIN, alive);
    this.#consumer.on(FETCH_START, alive);
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
      await this.#consumer.run({ autoCommit: false, eachBatch: (payload) => this.#received(payload) });
      if (!this.#options.ranges) return;
      for (const [partition, { position }] of this.#ranges) {
        this.#consumer.seek({ topic, partition, offset: String(position) });
      }
    } catch (error) {
      throw translated(error);
    }
  }

  /** Fulfilled once the batch is taken: the next one is not fetched before. */
  async #received({ batch, pause }: EachBatchPayload): Promise<void> {
    const range = this.#ranges.get(batch.partition);
    if (!range) {
      pause();
      return;
    }
    const { position, end } = range;
    const lost = lostIn(batch.messages);
    const refused = refusalIn(batch.messages)?.unreadable;
    if (lost) {
      this.#failed(new BrokerUnavailable(`its ${lost} is gone`));
      return;
    }
    // A following reader must start over: this partition is read no further.
    if (refused && this.#options.follow) {
      this.#failed(new BrokerUnavailable(refused.reason));
      return;
    }
    const items = fromMessages(batch, batch.messages);
    this.#advance(batch.partition, refused ? end : Number(batch.lastOffset()) + 1);
    this.#batches.push(items.filter((item) => lastOf(item) >= position && firstOf(item) < end));
    this.#changed();
    await new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
  }

  #advance(partition: number, next: number): void {
    const range = this.#ranges.get(partition);
    if (!range) return;
    range.position = Math.max(range.position, next);
    if (next < range.end) return;
    this.#ranges.delete(partition);
    this.#changed();
  }

  /** Empty at the end. */
  async #next(): Promise<(ReceivedRecord | UnreadableBatch)[]> {
    const { follow } = this.#options;
    const isOver = () => follow?.aborted || this.#ranges.size === 0;
    const silence = AbortSignal.timeout(SILENCE_MS);
    if (!this.#failure && !isOver()) await once(this.#target, 'change', { signal: silence }).catch(() => undefined);
    if (this.#failure) throw this.#failure;
    const batch = this.#batches.shift();
    if (batch) return batch;
    // A following reader may have nothing to read; but a working kafkajs client fetches all the time.
    const silentSince = follow ? this.#lastSign : Number.NEGATIVE_INFINITY;
    if (silence.aborted && performance.now() - silentSince >= SILENCE_MS) {
      throw new BrokerUnavailable(`no record arrived within ${SILENCE_MS / 1_000} s`);
    }
    return [];
  }

  #failed(error: Error): void {
    this.#failure = error;
    this.#changed();
  }

  #changed(): void {
    this.#target.dispatchEvent(new Event('change'));
  }
}

function firstOf(item: ReceivedRecord | UnreadableBatch): number {
  return 'digest' in item ? item.first : item.offset;
}

function lastOf(item: ReceivedRecord | UnreadableBatch): number {
  return 'digest' in item ? item.last : item.offset;
}

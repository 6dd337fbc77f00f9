/**
 * Reads a topic from its oldest record to where it stood at the beginning, in no group of the service: kafkajs fetches
 * for groups only, so it is one of its own, which commits nothing and is deleted at the end.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { BrokerUnavailable, type ReceivedRecord } from '../../ports/broker.js';
import { translated } from './kafka-errors.js';
import { fromMessage } from './records.js';
import type { PartitionOffsets, TopicAdmin } from './topic-admin.js';

/** No record came for so long, although there are some: Kafka is out of reach. */
const SILENCE_MS = 20_000;

export async function* browseTopic(kafka: Kafka, admin: TopicAdmin, topic: string): AsyncIterable<ReceivedRecord> {
  const offsets = (await admin.offsets(topic)).filter(({ low, high }) => high > low);
  if (offsets.length === 0) return;
  const groupId = `account-webhooks-browse-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100, allowAutoTopicCreation: false });
  try {
    yield* new Browsing(consumer, offsets).read(topic);
  } finally {
    await consumer.disconnect().catch(() => undefined);
    await admin.deleteGroup(groupId).catch(() => undefined);
  }
}

class Browsing {
  readonly #consumer: Consumer;
  readonly #target = new EventTarget();
  /** Up to where each partition is to be read. */
  readonly #ends: Map<number, number>;
  /** What each partition has given so far: after a rejoin kafkajs begins again. */
  readonly #positions = new Map<number, number>();
  #batches: ReceivedRecord[][] = [];
  #taken: () => void = () => undefined;
  #failure: Error | null = null;

  constructor(consumer: Consumer, offsets: readonly PartitionOffsets[]) {
    this.#consumer = consumer;
    this.#ends = new Map(offsets.map(({ partition, high }) => [partition, high]));
  }

  async *read(topic: string): AsyncIterable<ReceivedRecord> {
    await this.#start(topic);
    try {
      while (this.#batches.length > 0 || this.#ends.size > 0) {
        const batch = this.#batches.shift() ?? (await this.#next());
        yield* batch;
        this.#taken();
      }
    } finally {
      // Whoever stops reading early: a batch that waits to be taken would keep the consumer from its end.
      this.#ends.clear();
      this.#taken();
    }
  }

  async #start(topic: string): Promise<void> {
    const { CRASH } = this.#consumer.events;
    this.#consumer.on(CRASH, ({ payload }) => {
      if (!payload.restart) this.#failed(translated(payload.error));
    });
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [topic], fromBeginning: true });
      await this.#consumer.run({ autoCommit: false, eachBatch: (payload) => this.#received(payload) });
    } catch (error) {
      throw translated(error);
    }
  }

  /** Fulfilled once the batch was taken: the next is not fetched before. */
  async #received({ batch }: EachBatchPayload): Promise<void> {
    const end = this.#ends.get(batch.partition);
    if (end === undefined) return;
    const position = this.#positions.get(batch.partition) ?? 0;
    const records = batch.messages.map((message) => fromMessage(batch.topic, batch.partition, message));
    const next = Number(batch.lastOffset()) + 1;
    this.#positions.set(batch.partition, Math.max(position, next));
    if (next >= end) this.#ends.delete(batch.partition);
    this.#batches.push(records.filter(({ offset }) => offset >= position && offset < end));
    this.#target.dispatchEvent(new Event('change'));
    await new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
  }

  async #next(): Promise<ReceivedRecord[]> {
    const silence = AbortSignal.timeout(SILENCE_MS);
    if (!this.#failure) await once(this.#target, 'change', { signal: silence }).catch(() => undefined);
    if (this.#failure) throw this.#failure;
    const batch = this.#batches.shift();
    if (!batch) throw new BrokerUnavailable(`no record came within ${SILENCE_MS / 1_000} s`);
    return batch;
  }

  #failed(error: Error): void {
    this.#failure = error;
    this.#target.dispatchEvent(new Event('change'));
  }
}

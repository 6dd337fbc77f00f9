/**
 * Reads a topic from given positions on, at the partitions' leaders and in no group, on a connection of its own: one fetch at
 * a time for each leader, which waits there for records.
 *
 *   fetching -> fetching ...            (Kafka answered)
 *        \-> pausing -> fetching ...    (a leader moved, or a connection failed: its metadata is read again)
 *               \-> BrokerUnavailable   (for PATIENCE_MS)
 */
import { once } from 'node:events';
import type { Kafka } from 'kafkajs';
import {
  BrokerRefused,
  BrokerUnavailable,
  type FollowedPage,
  type FollowOptions,
  type Position,
  type Positions,
  positionBehind,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import { type AskedCluster, connectCluster, disconnectAfter, fetchFrom } from './cluster-client.js';
import type { FetchedPartition } from './fetched/fetch-response.js';
import { translated } from './kafka-errors.js';
import { fromMessages } from './records.js';

/** How long Kafka waits for a record before it answers with none: also how long the end of a follower may take. */
const WAIT_MS = 1_000;
/** While records arrive, a fetch waits for so many bytes, `gatherMs` at most. */
const GATHER_BYTES = 64 * 1024;
const LIMITS = { mostBytes: 10 * 1024 * 1024, mostPartitionBytes: 1024 * 1024 };
const PATIENCE_MS = 20_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

export interface FollowerParts {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly skips: (batch: UnreadableBatch) => void;
  /** The follower's connections close: the broker's close waits for that. */
  readonly ending: (end: Promise<void>) => void;
}

type Answer =
  | { readonly leader: number; readonly partitions: readonly FetchedPartition[] }
  | { readonly leader: number; readonly error: unknown };

export class Follower {
  readonly #parts: FollowerParts;
  readonly #options: FollowOptions;
  readonly #positions: Map<number, Position>;
  /** By leader. */
  readonly #fetches = new Map<number, Promise<Answer>>();
  /** By leader: whether the last fetch had records. */
  readonly #recordsArrive = new Map<number, boolean>();
  /** Those in a fetch. */
  readonly #busy = new Set<number>();
  #heardAt = performance.now();
  #pauseMs = FIRST_PAUSE_MS;

  constructor(parts: FollowerParts, positions: Positions, options: FollowOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#positions = new Map(positions);
  }

  async *pages(): AsyncIterable<FollowedPage> {
    const { kafka, topic, ending } = this.#parts;
    const { signal } = this.#options;
    const { client, connected } = connectCluster(kafka);
    try {
      const cluster = await Promise.race([connected, this.#end()]);
      if (!cluster) return;
      await cluster.addTargetTopic(topic);
      while (!signal.aborted) {
        const answer = await this.#answer(cluster);
        if (!answer) continue;
        yield* this.#pagesOf(answer);
        // Now, not before: the time that the reader took with the pages is no silence of Kafka.
        this.#heardAt = performance.now();
      }
    } catch (error) {
      throw translated(error);
    } finally {
      ending(disconnectAfter([connected, ...this.#fetches.values()], client));
    }
  }

  async #end(): Promise<null> {
    const { signal } = this.#options;
    if (!signal.aborted) await once(signal, 'abort');
    return null;
  }

  /** Null after a pause, and once the signal aborts. @throws BrokerUnavailable */
  async #answer(cluster: AskedCluster): Promise<readonly FetchedPartition[] | null> {
    try {
      await cluster.refreshMetadataIfNecessary();
      this.#fetchFromAll(cluster);
      const answer = await this.#next();
      if (!answer) return null;
      this.#fetches.delete(answer.leader);
      if ('error' in answer) throw answer.error;
      this.#pauseMs = FIRST_PAUSE_MS;
      return answer.partitions;
    } catch (error) {
      await this.#failed(cluster, error);
      return null;
    }
  }

  #fetchFromAll(cluster: AskedCluster): void {
    const { partitions: wanted } = this.#options;
    const byLeader = new Map<number, number[]>();
    for (const { partitionId, leader } of cluster.findTopicPartitionMetadata(this.#parts.topic)) {
      if (this.#busy.has(partitionId) || this.#fetches.has(leader) || wanted?.has(partitionId) === false) continue;
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), partitionId]);
    }
    for (const [leader, partitions] of byLeader) {
      this.#fetches.set(leader, this.#fetch(cluster, leader, partitions));
    }
  }

  /** Never rejects. */
  async #fetch(cluster: AskedCluster, leader: number, partitions: readonly number[]): Promise<Answer> {
    const { topic } = this.#parts;
    for (const partition of partitions) this.#busy.add(partition);
    try {
      const of = partitions.map((partition) => ({ partition, offset: this.#positionOf(partition).offset }));
      const { uncommitted } = this.#options;
      const fetch = { leader, topic, partitions: of, uncommitted, ...this.#waitAt(leader), ...LIMITS };
      const fetched = await fetchFrom(cluster, fetch);
      this.#recordsArrive.set(
        leader,
        fetched.some(({ messages }) => messages.length > 0),
      );
      return { leader, partitions: fetched };
    } catch (error) {
      return { leader, error };
    } finally {
      for (const partition of partitions) this.#busy.delete(partition);
    }
  }

  #waitAt(leader: number): { readonly waitMs: number; readonly minBytes?: number } {
    const { gatherMs = 0 } = this.#options;
    return gatherMs > 0 && this.#recordsArrive.get(leader)
      ? { waitMs: gatherMs, minBytes: GATHER_BYTES }
      : { waitMs: WAIT_MS };
  }

  /** A partition that was added later is read from its start. */
  #positionOf(partition: number): Position {
    return this.#positions.get(partition) ?? { offset: 0, before: null };
  }

  async #next(): Promise<Answer | null> {
    const { signal } = this.#options;
    let end: () => void = () => undefined;
    const ended = new Promise<null>((resolve) => {
      end = () => resolve(null);
    });
    // All partitions may be busy. A timer: an aborted sleep makes errors with their stacks, 30 us for each answer, and this 3.
    const timer = setTimeout(end, WAIT_MS);
    signal.addEventListener('abort', end);
    try {
      return await Promise.race([...this.#fetches.values(), ended]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  async #failed(cluster: AskedCluster, error: unknown): Promise<void> {
    const failure = translated(error);
    const isOver = performance.now() - this.#heardAt >= PATIENCE_MS;
    if (isOver || failure instanceof BrokerRefused) throw failure;
    await sleep(this.#pauseMs, this.#options.signal);
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
    // The next fetch tells whether this helped.
    if (!this.#options.signal.aborted) await cluster.refreshMetadata().catch(() => undefined);
  }

  async *#pagesOf(partitions: readonly FetchedPartition[]): AsyncIterable<FollowedPage> {
    for (const fetched of partitions) {
      if (this.#options.signal.aborted) return;
      if (!fetched.fault) yield this.#page(fetched);
    }
    for (const { partition, fault } of partitions) {
      if (fault) throw new BrokerUnavailable(`${this.#parts.topic}/${partition} can't be read (${fault.reason})`);
    }
  }

  #page({ partition, messages, highWatermark }: FetchedPartition): FollowedPage {
    const from = this.#positionOf(partition);
    const items = fromMessages({ topic: this.#parts.topic, partition }, messages).filter(
      (item) => ('offset' in item ? item.offset : item.last) >= from.offset,
    );
    for (const item of items) if ('digest' in item) this.#parts.skips(item);
    const position = positionBehind(from, items, Number(messages.at(-1)?.offset ?? from.offset - 1) + 1);
    this.#positions.set(partition, position);
    return { partition, items, position, end: Math.max(Number(highWatermark), position.offset) };
  }
}

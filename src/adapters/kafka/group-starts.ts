/** Looks up, until known, where the group is in assigned partitions; announces starts not at the committed offset. */
import type { Logger } from '../../observability/logger.js';
import type { ConsumeOptions, PartitionState } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import { reasonOf } from './fetched/marks.js';
import { committedBy } from './foreign-use.js';
import { type GroupStart, keyOf, type TopicPartition, unreadableAt } from './partition-lane.js';
import type { TopicAdmin } from './topic-admin.js';

const ASK_AGAIN_MS = 500;

export interface FoundStart {
  readonly place: TopicPartition;
  readonly start: GroupStart;
}

export interface StartsListener {
  found(starts: readonly FoundStart[]): void;
  failed(error: unknown, logFields: object): void;
}

export class GroupStarts {
  readonly #admin: TopicAdmin;
  readonly #options: Pick<ConsumeOptions, 'group' | 'onStart'>;
  readonly #logger: Logger;
  readonly #on: StartsListener;
  readonly #unopened = new Map<string, PartitionState>();
  /** Where reading stopped in partitions whose topic is gone. */
  readonly #stoppedAt = new Map<string, number>();
  /** Of this process: the next own commit leaves no trace of another application's. */
  readonly foreign = new Set<string>();

  constructor(
    admin: TopicAdmin,
    options: Pick<ConsumeOptions, 'group' | 'onStart'>,
    logger: Logger,
    on: StartsListener,
  ) {
    this.#admin = admin;
    this.#options = options;
    this.#logger = logger;
    this.#on = on;
  }

  get unopened(): Iterable<PartitionState> {
    return this.#unopened.values();
  }

  /** Other partitions may be assigned from now on. */
  joined(): void {
    this.#unopened.clear();
  }

  stoppedAt(place: TopicPartition, offset: number): void {
    this.#stoppedAt.set(keyOf(place), offset);
  }

  /** Never rejects: unavailable offsets are read again, until the signal aborts. */
  async find(places: readonly TopicPartition[], signal: AbortSignal): Promise<void> {
    if (places.length === 0 || signal.aborted) return;
    const { group } = this.#options;
    const topics = new Set(places.map(({ topic }) => topic));
    try {
      const starts = await this.#admin.groupStart(group, [...topics]);
      if (signal.aborted) return;
      const known = places.flatMap((place) => {
        const start = starts.get(place.topic)?.get(place.partition);
        return start ? [{ place, start }] : [];
      });
      await Promise.all(known.map((found) => this.#announce(found)));
      if (signal.aborted) return;
      this.#found(known);
      const gone = [...topics].filter((topic) => !starts.has(topic));
      if (gone.length > 0) void this.#admin.ensureAgain(gone);
      const left = places.filter(({ topic, partition }) => !starts.get(topic)?.has(partition));
      this.#findAgain(left, signal);
    } catch (error) {
      this.#on.failed(error, { group });
      if (signal.aborted) return;
      for (const place of places) this.#unopened.set(keyOf(place), unopened(place, error));
      // Each topic by itself: one whose partitions have no leader must not delay the others.
      for (const topic of topics) {
        const ofTopic = places.filter((place) => place.topic === topic);
        this.#findAgain(ofTopic, signal);
      }
    }
  }

  #found(known: readonly FoundStart[]): void {
    for (const { place } of known) {
      this.#stoppedAt.delete(keyOf(place));
      this.#unopened.delete(keyOf(place));
    }
    this.#on.found(known);
  }

  #findAgain(places: readonly TopicPartition[], signal: AbortSignal): void {
    if (places.length > 0) void sleep(ASK_AGAIN_MS, signal).then(() => this.find(places, signal));
  }

  async #announce({ place, start }: FoundStart): Promise<void> {
    const { topic, partition } = place;
    const { group, onStart } = this.#options;
    if (start.isForeign) {
      const says = committedBy(group, topic, [partition]);
      this.#logger.error(says);
      this.foreign.add(says);
    }
    if (start.committed === start.offset) return;
    const expected = start.committed ?? this.#stoppedAt.get(keyOf(place)) ?? null;
    await onStart?.({ topic, partition, expected, offset: start.offset });
  }
}

function unopened(place: TopicPartition, error: unknown): PartitionState {
  const { topic, partition } = place;
  return { topic, partition, behind: 0, head: null, unreadable: unreadableAt(place, 0, reasonOf(error)) };
}

/** Looks up, until known, where the group is in assigned partitions. */
import type { PartitionState } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import { reasonOf } from './fetched/marks.js';
import { type GroupStart, keyOf, type TopicPartition } from './partition-lane.js';
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
  readonly #group: string;
  readonly #on: StartsListener;
  readonly #unopened = new Map<string, PartitionState>();

  constructor(admin: TopicAdmin, group: string, on: StartsListener) {
    this.#admin = admin;
    this.#group = group;
    this.#on = on;
  }

  get unopened(): Iterable<PartitionState> {
    return this.#unopened.values();
  }

  /** Other partitions may be assigned from now on. */
  joined(): void {
    this.#unopened.clear();
  }

  /** Never rejects: unavailable offsets are read again, until the signal aborts. */
  async find(places: readonly TopicPartition[], signal: AbortSignal): Promise<void> {
    if (places.length === 0 || signal.aborted) return;
    const topics = new Set(places.map(({ topic }) => topic));
    try {
      const starts = await this.#admin.groupStart(this.#group, [...topics]);
      if (signal.aborted) return;
      const known = places.flatMap((place) => {
        const start = starts.get(place.topic)?.get(place.partition);
        return start ? [{ place, start }] : [];
      });
      this.#found(known);
      const gone = [...topics].filter((topic) => !starts.has(topic));
      if (gone.length > 0) void this.#admin.ensureAgain(gone);
      const left = places.filter(({ topic, partition }) => !starts.get(topic)?.has(partition));
      this.#findAgain(left, signal);
    } catch (error) {
      this.#on.failed(error, { group: this.#group });
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
    for (const { place } of known) this.#unopened.delete(keyOf(place));
    this.#on.found(known);
  }

  #findAgain(places: readonly TopicPartition[], signal: AbortSignal): void {
    if (places.length > 0) void sleep(ASK_AGAIN_MS, signal).then(() => this.find(places, signal));
  }
}

function unopened({ topic, partition }: TopicPartition, error: unknown): PartitionState {
  return { topic, partition, behind: 0, head: null, unreadable: { offset: 0, reason: reasonOf(error) } };
}

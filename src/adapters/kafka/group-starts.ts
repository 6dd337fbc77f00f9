/**
 * Looks up where the group is in assigned partitions, until that is known for each, and announces starts elsewhere than at
 * the committed offset.
 */
import type { Logger } from '../../observability/logger.js';
import type { ConsumeOptions, PartitionState } from '../../ports/broker.js';
import { reasonOf } from './fetched/marks.js';
import { committedBy } from './foreign-use.js';
import type { GroupStart } from './partition-lane.js';
import { keyOf, type Place } from './places.js';
import type { TopicAdmin } from './topic-admin.js';

const ASK_AGAIN_MS = 500;

export interface GroupStartsParts {
  readonly admin: Pick<TopicAdmin, 'groupStart' | 'forget' | 'ensure'>;
  readonly options: Pick<ConsumeOptions, 'group' | 'onStart'>;
  readonly logger: Logger;
  /** Called with each partition whose start is known. */
  readonly found: (starts: readonly FoundStart[]) => void;
  /** Whether no join followed, and the consumer goes on. */
  readonly isCurrent: (join: number) => boolean;
  readonly failed: (error: unknown, about: object) => void;
  readonly later: (ms: number, then: () => void) => void;
}

export interface FoundStart {
  readonly place: Place;
  readonly start: GroupStart;
}

export class GroupStarts {
  readonly #parts: GroupStartsParts;
  /** Partitions whose offsets can't be read, with the reason. */
  readonly #unopened = new Map<string, PartitionState>();
  /** Where reading stopped in partitions whose topic is gone. */
  readonly #stoppedAt = new Map<string, number>();
  /** Of this process: the next own commit leaves no trace of another application's. */
  readonly foreign = new Set<string>();

  constructor(parts: GroupStartsParts) {
    this.#parts = parts;
  }

  get unopened(): Iterable<PartitionState> {
    return this.#unopened.values();
  }

  /** Other partitions may be assigned from now on. */
  joined(): void {
    this.#unopened.clear();
  }

  stoppedAt(place: Place, offset: number): void {
    this.#stoppedAt.set(keyOf(place), offset);
  }

  /** Never rejects: unavailable offsets are read again. */
  async find(places: readonly Place[], join: number): Promise<void> {
    if (places.length === 0) return;
    const { admin, options, isCurrent } = this.#parts;
    const topics = topicsOf(places);
    try {
      const starts = await admin.groupStart(options.group, topics);
      if (!isCurrent(join)) return;
      const known = places.flatMap((place) => {
        const start = starts.get(place.topic)?.get(place.partition);
        return start ? [{ place, start }] : [];
      });
      await Promise.all(known.map((found) => this.#announce(found)));
      if (!isCurrent(join)) return;
      this.#found(known);
      for (const topic of topics) if (!starts.has(topic)) this.#makeAgain(topic);
      const left = places.filter(({ topic, partition }) => !starts.get(topic)?.has(partition));
      if (left.length > 0) this.#findAgain(left, join);
    } catch (error) {
      this.#parts.failed(error, { group: options.group });
      if (isCurrent(join)) this.#notFound(places, error, join);
    }
  }

  #found(known: readonly FoundStart[]): void {
    for (const { place } of known) {
      this.#stoppedAt.delete(keyOf(place));
      this.#unopened.delete(keyOf(place));
    }
    this.#parts.found(known);
  }

  /** Retries each topic by itself: a topic whose partitions have no leader must not delay the others. */
  #notFound(places: readonly Place[], error: unknown, join: number): void {
    for (const place of places) this.#unopened.set(keyOf(place), unopened(place, error));
    for (const topic of topicsOf(places)) {
      const ofTopic = places.filter((place) => place.topic === topic);
      this.#findAgain(ofTopic, join);
    }
  }

  #findAgain(places: readonly Place[], join: number): void {
    this.#parts.later(ASK_AGAIN_MS, () => {
      if (this.#parts.isCurrent(join)) void this.find(places, join);
    });
  }

  async #announce({ place, start }: FoundStart): Promise<void> {
    const { topic, partition } = place;
    if (start.isForeign) {
      const says = committedBy(this.#parts.options.group, topic, [partition]);
      this.#parts.logger.error(says);
      this.foreign.add(says);
    }
    if (start.committed === start.offset) return;
    const expected = start.committed ?? this.#stoppedAt.get(keyOf(place)) ?? null;
    await this.#parts.options.onStart?.({ topic, partition, expected, offset: start.offset });
  }

  #makeAgain(topic: string): void {
    const { admin, logger } = this.#parts;
    admin.forget(topic);
    admin.ensure([topic]).catch((error: unknown) => logger.warn({ err: error, topic }, 'the topic is unavailable'));
  }
}

function topicsOf(places: readonly Place[]): string[] {
  return [...new Set(places.map(({ topic }) => topic))];
}

function unopened({ topic, partition }: Place, error: unknown): PartitionState {
  const unreadable = { topic, partition, first: 0, last: 0, codec: 'unknown', reason: reasonOf(error), digest: null };
  return { topic, partition, behind: 0, head: null, unreadable };
}

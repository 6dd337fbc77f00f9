/** Topics as processes see them, with lag. */
import {
  type Extent,
  type FollowedPage,
  type FollowOptions,
  type NewRecord,
  type Position,
  type Positions,
  positionBehind,
  type ReceivedRecord,
} from '../../../src/ports/broker.js';
import type { Kernel, Process } from './kernel.js';

/** Of one way to the broker, ms. */
export const WAY_MS = 20;
/** Behind its publication a follower has a record after this, ms, unless its process stood still. */
export const FOLLOW_MS = 500;
/** Until a new follower has its first page, ms. */
export const FIRST_PAGE_MS = 300;
const MOST_A_PAGE = 40;
/** Of the topic of one partition, whose followers are so the later. */
const FEW_A_PAGE = 3;

/** A consumer group of the topics. */
interface Group {
  readonly name: string;
  committed(topic: string): ReadonlyMap<number, number>;
  appended(topic: string, partition: number): void;
}

export class SimTopics {
  readonly kernel: Kernel;
  readonly #topics = new Map<string, ReceivedRecord[][]>();
  readonly #appended = new Map<string, Set<() => void>>();
  readonly groups: Group[] = [];

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  create(topic: string, partitions: number): void {
    this.#topics.set(
      topic,
      Array.from({ length: partitions }, () => []),
    );
  }

  get names(): string[] {
    return [...this.#topics.keys()];
  }

  partitions(topic: string): readonly ReceivedRecord[][] {
    return this.#topics.get(topic) ?? [];
  }

  all(topic: string): ReceivedRecord[] {
    return this.partitions(topic).flat();
  }

  append(topic: string, record: NewRecord): ReceivedRecord {
    const partitions = this.partitions(topic);
    const partition = record.key ? hash(record.key) % partitions.length : this.kernel.between(0, partitions.length - 1);
    const records = partitions[partition] ?? [];
    const received = { ...record, topic, partition, offset: records.length, timestamp: this.kernel.now };
    records.push(received);
    for (const group of this.groups) group.appended(topic, partition);
    for (const wake of this.#appended.get(topic) ?? []) wake();
    this.#appended.delete(topic);
    return received;
  }

  extent(topic: string): ReadonlyMap<number, Extent> {
    return new Map(this.partitions(topic).map((records, at) => [at, { first: 0, next: records.length }]));
  }

  onAppend(topic: string, wake: () => void): void {
    this.#appended.set(topic, (this.#appended.get(topic) ?? new Set()).add(wake));
  }
}

function hash(key: Buffer): number {
  return key.reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7);
}

/** As one process sees the broker. */
export function brokerOf(topics: SimTopics, by: Process) {
  const { kernel } = topics;
  return {
    publish: (topic: string, records: readonly NewRecord[]): Promise<readonly number[]> =>
      by.call(WAY_MS, () => records.map((record) => topics.append(topic, record).offset)),
    read: (topic: string, partition: number, offset: number): Promise<ReceivedRecord | null> =>
      by.call(WAY_MS, () => topics.partitions(topic)[partition]?.[offset] ?? null),
    extent: (topic: string) => by.call(WAY_MS, () => topics.extent(topic)),
    listTopics: () => by.call(WAY_MS, () => topics.names),
    ensureTopics: async () => undefined,
    committed: (group: string, topic: string): Promise<ReadonlyMap<number, number>> =>
      by.call(WAY_MS, () => topics.groups.find(({ name }) => name === group)?.committed(topic) ?? new Map()),
    async *follow(topic: string, positions: Positions, { signal }: FollowOptions): AsyncIterable<FollowedPage> {
      const at = new Map<number, Position>(positions);
      const most = topics.partitions(topic).length === 1 ? FEW_A_PAGE : MOST_A_PAGE;
      await by.pause(kernel.between(20, FIRST_PAGE_MS - WAY_MS));
      while (!signal.aborted) {
        let found = false;
        for (const [partition, records] of topics.partitions(topic).entries()) {
          const from = at.get(partition) ?? { offset: 0, before: null };
          if (from.offset >= records.length) continue;
          found = true;
          await by.pause(kernel.between(1, WAY_MS));
          const items = records.slice(from.offset, from.offset + most);
          const position = positionBehind(from, items, from.offset + items.length);
          at.set(partition, position);
          yield { partition, items, position, end: records.length };
        }
        const appended = (go: () => void) =>
          topics.onAppend(
            topic,
            by.bound(() => void by.after(kernel.between(1, WAY_MS), go)),
          );
        if (!found) await new Promise<void>(appended);
      }
    },
  };
}

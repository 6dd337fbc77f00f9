/** A stand-in for kafkajs' consumer: the test plays the group and sees the adapter's calls. */
import type { Kafka, KafkaMessage, PartitionAssigner } from 'kafkajs';
import type { FetchedPartition } from '../../../src/adapters/kafka/fetched/fetch-response.js';
import type { Fetched } from '../../../src/adapters/kafka/kafkajs-repairs/group-hooks.js';

interface Options {
  readonly retry: { readonly restartOnFailure: (error: Error) => Promise<boolean> };
  readonly partitionAssigners: readonly PartitionAssigner[];
}

type Listener = (event: { payload: unknown }) => unknown;

const EVENTS = [
  'GROUP_JOIN',
  'START_BATCH_PROCESS',
  'REBALANCING',
  'FETCH_START',
  'COMMIT_OFFSETS',
  'REQUEST',
  'HEARTBEAT',
  'CRASH',
] as const;
type EventName = (typeof EVENTS)[number];

export interface Commit {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly metadata?: string;
}

/** Played with the answer that it gets. */
interface Fetch extends Partial<Fetched> {
  readonly maxWaitTime: number;
}

export class FakeKafkaClient {
  readonly events = Object.fromEntries(EVENTS.map((name) => [name, name]));
  readonly commits: Commit[][] = [];
  readonly calls: string[] = [];
  runs = 0;
  /** Number of clients requested; this one stands for all of them. */
  made = 0;
  disconnects = 0;
  commit: () => Promise<void> = async () => undefined;
  /** Like kafkajs while it is not fetching: a commit is fulfilled, but nothing is committed. */
  dropsCommits = false;
  restartOnFailure: (error: Error) => Promise<boolean> = async () => true;
  readonly #listeners = new Map<string, Listener>();
  #eachBatch: (payload: unknown) => Promise<void> = async () => undefined;

  /** Of the last client; kafkajs looks for the group's coordinator before each join. */
  cluster = this.#newCluster();
  readonly #paused = new Set<string>();

  /** Stands for all of kafkajs. */
  readonly kafka = {
    consumer: (options: Options) => {
      this.made += 1;
      this.cluster = this.#newCluster();
      for (const assigner of options.partitionAssigners) assigner({ cluster: this.cluster } as never);
      this.restartOnFailure = options.retry.restartOnFailure;
      return this.#oneOfMany();
    },
  } as unknown as Kafka;

  #newCluster() {
    const broker = { fetch: async (request: Fetch) => ({ responses: [], ...request }) };
    return {
      findGroupCoordinator: async (_: object) => undefined,
      findBroker: async (_: object) => broker,
    };
  }

  /** Another object each time: the consumer tells its clients apart. */
  #oneOfMany(): object {
    const bound = (all: this, name: keyof this) => {
      const member = all[name];
      return typeof member === 'function' ? member.bind(all) : member;
    };
    return new Proxy(this, { get: (all, name) => bound(all, name as keyof this) });
  }

  on(name: string, listener: Listener): void {
    this.#listeners.set(name, listener);
  }

  async emit(name: EventName, payload: unknown): Promise<void> {
    await this.#listeners.get(name)?.({ payload });
  }

  async connect(): Promise<void> {}
  subscribe: () => Promise<void> = async () => undefined;
  async disconnect(): Promise<void> {
    this.disconnects += 1;
  }

  async run({ eachBatch }: { eachBatch: (payload: unknown) => Promise<void> }): Promise<void> {
    this.#eachBatch = eachBatch;
    this.runs += 1;
  }

  async commitOffsets(offsets: Commit[]): Promise<void> {
    this.commits.push(offsets);
    if (this.dropsCommits) return;
    await this.commit();
    await this.emit('COMMIT_OFFSETS', {});
  }

  /** Like kafkajs between a crash and the next join. */
  inNoGroup = false;

  pause([topic]: { topic: string }[]): void {
    this.#mustBeInGroup();
    this.calls.push(`pause ${topic?.topic}`);
    this.#paused.add(topic?.topic ?? '');
  }

  resume([topic]: { topic: string }[]): void {
    this.#mustBeInGroup();
    this.calls.push(`resume ${topic?.topic}`);
    this.#paused.delete(topic?.topic ?? '');
  }

  paused(): { topic: string }[] {
    return [...this.#paused].map((topic) => ({ topic }));
  }

  /** @returns how long the consumer has a fetch of kafkajs wait, in ms */
  async fetchWaitMs(): Promise<number> {
    return (await this.#fetch({ maxWaitTime: 1 })).maxWaitTime;
  }

  async #fetch(request: Fetch) {
    const { fetch } = await this.cluster.findBroker({ nodeId: '1' });
    return fetch(request);
  }

  /** A fetch of partition 0, whose records, if any, the client passes on then. */
  async fetchedEnd(topicName: string, end: number, more: Partial<FetchedPartition> = {}): Promise<void> {
    const of = { partition: 0, from: 0, highWatermark: String(end), fault: null, messages: [], ...more };
    await this.#fetch({ maxWaitTime: 1, responses: [{ topicName, partitions: [of] }] });
  }

  seek({ topic, offset }: { topic: string; offset: string }): void {
    this.calls.push(`seek ${topic} ${offset}`);
  }

  #mustBeInGroup(): void {
    if (this.inNoGroup) throw new Error('Consumer group was not initialized, consumer#run must be called first');
  }

  async join(assignment: Record<string, number[]>, memberId = 'member'): Promise<void> {
    await this.beginJoin();
    await this.answered('SyncGroup');
    await this.emit('GROUP_JOIN', { memberId, memberAssignment: assignment });
  }

  /** Proceeds up to the join request. */
  async beginJoin(): Promise<void> {
    await this.cluster.findGroupCoordinator({ groupId: 'g' });
  }

  async heartbeat(sentMs = 0): Promise<void> {
    await this.answered('Heartbeat', sentMs);
    await this.emit('HEARTBEAT', {});
  }

  async answered(apiName: string, duration = 0): Promise<void> {
    await this.emit('REQUEST', { apiName, duration });
  }

  /** Records of partition 0, `first` to `last`; `end` is the offset of the next record. */
  fetched(topic: string, first: number, last: number, end = last + 1): Promise<void> {
    const messages = Array.from({ length: last - first + 1 }, (_, n) => ({
      key: null,
      value: Buffer.from(String(first + n)),
      offset: String(first + n),
      timestamp: '0',
      headers: {},
    }));
    return this.fetchedMessages(topic, { first, last, end }, messages);
  }

  async fetchedMessages(
    topic: string,
    { first, last, end }: { readonly first: number; readonly last: number; readonly end: number },
    messages: readonly object[],
  ): Promise<void> {
    const batch = {
      topic,
      partition: 0,
      fetchedOffset: String(first),
      highWatermark: String(end),
      messages,
      firstOffset: () => String(first),
      lastOffset: () => String(last),
    };
    await this.fetchedEnd(topic, end, { messages: messages as KafkaMessage[] });
    await this.#eachBatch({ batch, resolveOffset: () => undefined });
  }
}

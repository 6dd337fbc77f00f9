/** Brokers that each violate one sentence of the contract, for the contract suite to detect. */

import type {
  Broker,
  ConsumeOptions,
  Consumer,
  Extent,
  FollowedPage,
  FollowOptions,
  NewRecord,
  PartitionStart,
  Positions,
  ReceivedRecord,
  RecordHandler,
} from '../../src/ports/broker.js';
import { topicRecords } from '../../src/ports/topic-records.js';

export class Delegating implements Broker {
  constructor(protected readonly inner: Broker) {}
  publish(topic: string, records: readonly NewRecord[]): Promise<void> {
    return this.inner.publish(topic, records);
  }
  consume(options: ConsumeOptions): Promise<Consumer> {
    return this.inner.consume(options);
  }
  follow(topic: string, positions: Positions, options: FollowOptions): AsyncIterable<FollowedPage> {
    return this.inner.follow(topic, positions, options);
  }
  read(topic: string, partition: number, offset: number): Promise<ReceivedRecord | null> {
    return this.inner.read(topic, partition, offset);
  }

  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    return this.inner.committed(group, topic);
  }
  extent(topic: string): Promise<ReadonlyMap<number, Extent>> {
    return this.inner.extent(topic);
  }
  listTopics(): Promise<string[]> {
    return this.inner.listTopics();
  }
  ensureTopics(topics: readonly string[]): Promise<void> {
    return this.inner.ensureTopics(topics);
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}

export class DropsTheLastRecord extends Delegating {
  override publish(topic: string, records: readonly NewRecord[]) {
    return this.inner.publish(topic, records.slice(0, -1));
  }
}

export class ResolvesBeforeDurable extends Delegating {
  override async publish(topic: string, records: readonly NewRecord[]) {
    this.inner.publish(topic, records).catch(() => undefined);
  }
}

export class PublishesInWrongOrder extends Delegating {
  override publish(topic: string, records: readonly NewRecord[]) {
    return this.inner.publish(topic, records.toReversed());
  }
}

export class KeepsOneHeaderOfAName extends Delegating {
  override publish(topic: string, records: readonly NewRecord[]) {
    const changed = records.map((record) => ({ ...record, headers: [...new Map(record.headers)] }));
    return this.inner.publish(topic, changed);
  }
}

export class TakesBytesForText extends Delegating {
  override publish(topic: string, records: readonly NewRecord[]) {
    const changed = records.map((record) => ({ ...record, value: record.value && Buffer.from(String(record.value)) }));
    return this.inner.publish(topic, changed);
  }
}

export class MakesNullEmpty extends Delegating {
  override publish(topic: string, records: readonly NewRecord[]) {
    return this.inner.publish(
      topic,
      records.map((record) => ({ ...record, key: record.key ?? Buffer.alloc(0) })),
    );
  }
}

export class ReadsTheFirstOfTheBatch extends Delegating {
  override read(topic: string, partition: number, offset: number) {
    return this.inner.read(topic, partition, Math.max(0, offset - 1));
  }
}

export class ReadsTheLastThereIs extends Delegating {
  override async read(topic: string, partition: number, offset: number) {
    const found = await this.inner.read(topic, partition, offset);
    return found ?? this.inner.read(topic, 0, 0);
  }
}

abstract class Consuming extends Delegating {
  override consume(options: ConsumeOptions): Promise<Consumer> {
    return this.inner.consume(this.change(options));
  }
  protected abstract change(options: ConsumeOptions): ConsumeOptions;
}

export class SkipsTheRejected extends Consuming {
  protected change(options: ConsumeOptions): ConsumeOptions {
    return { ...options, handler: (...of) => options.handler(...of).catch(() => undefined) };
  }
}

/** A rejected record keeps its place: it is retried within one call. */
export class RejectedKeepTheirPlace extends Consuming {
  protected change({ handler, ...options }: ConsumeOptions) {
    const tryOn: RecordHandler = async (record, hold) => {
      for (let tries = 0; tries < 100; tries += 1) {
        const done = await handler(record, hold).then(
          () => true,
          () => false,
        );
        if (done) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error('rejected');
    };
    return { ...options, handler: tryOn };
  }
}

export class AsksNobody extends Consuming {
  protected change({ onUnreadable: _, ...options }: ConsumeOptions) {
    return options;
  }
}

/** Treats a rejection as an answer. */
export class AsksOnce extends Consuming {
  protected change({ onUnreadable, ...options }: ConsumeOptions) {
    if (!onUnreadable) return options;
    const asked: typeof onUnreadable = (...about) => onUnreadable(...about).catch(() => undefined);
    return { ...options, onUnreadable: asked };
  }
}

/** Ends at the end of the topic. */
export class StopsFollowing extends Delegating {
  override async *follow(topic: string, positions: Positions, options: FollowOptions) {
    for await (const page of this.inner.follow(topic, positions, options)) {
      yield page;
      if (page.items.length > 0 && page.position.offset >= page.end) return;
    }
  }
}

export class FollowsFromTheOldest extends Delegating {
  override follow(topic: string, _: Positions, options: FollowOptions) {
    return this.inner.follow(topic, new Map(), options);
  }
}

export class FollowsAllPartitions extends Delegating {
  override follow(topic: string, positions: Positions, { signal }: FollowOptions) {
    return this.inner.follow(topic, positions, { signal });
  }
}

/** Trusts an offset alone. */
export class FollowsAnotherTopic extends Delegating {
  override follow(topic: string, positions: Positions, options: FollowOptions) {
    const trusted = [...positions].map(([partition, { offset }]) => [partition, { offset, before: null }] as const);
    return this.inner.follow(topic, new Map(trusted), options);
  }
}

export class LeavesOutTheUnreadable extends Delegating {
  override async *follow(topic: string, positions: Positions, options: FollowOptions) {
    for await (const page of this.inner.follow(topic, positions, options)) {
      yield { ...page, items: page.items.filter((item) => 'offset' in item) };
    }
  }
}

export class IgnoresTheLimit extends Consuming {
  protected change(options: ConsumeOptions) {
    return { ...options, inFlight: 10_000 };
  }
}

export class IgnoresBytes extends Consuming {
  protected change({ inFlightBytes: _, ...options }: ConsumeOptions) {
    return options;
  }
}

export class IgnoresMayBegin extends Consuming {
  protected change({ mayBegin: _, ...options }: ConsumeOptions) {
    return options;
  }
}

/** After the first refusal, never asks again. */
export class TakesNoForAnAnswer extends Consuming {
  protected change({ mayBegin, ...options }: ConsumeOptions) {
    let may = true;
    const asked = () => {
      may &&= mayBegin?.() ?? true;
      return may;
    };
    return { ...options, mayBegin: asked };
  }
}

/** Asks before every call, whatever the record: rejected records are redelivered over and over. */
export class HoldsTheRejectedToo extends Consuming {
  protected change({ handler, mayBegin, ...options }: ConsumeOptions) {
    if (!mayBegin) return { ...options, handler };
    const asked: RecordHandler = async (record, hold) => {
      if (!mayBegin()) throw new Error('not now');
      await handler(record, hold);
    };
    return { ...options, mayBegin, handler: asked };
  }
}

/** Holds rejected records itself, so that nobody counts their bytes. */
export class ForgetsBytesThatPause extends Consuming {
  protected change({ handler, inFlight, inFlightBytes = Number.POSITIVE_INFINITY, ...options }: ConsumeOptions) {
    let bytes = 0;
    const counted: RecordHandler = async (record, hold) => {
      if (bytes >= inFlightBytes) throw new Error('no room');
      bytes += record.value?.length ?? 0;
      try {
        await handler(record, hold);
      } finally {
        bytes -= record.value?.length ?? 0;
      }
    };
    return { ...options, inFlight, handler: counted };
  }
}

export class IgnoresNotBefore extends Consuming {
  protected change({ notBefore: _, ...options }: ConsumeOptions) {
    return options;
  }
}

/** Waits inside the handler, so that waiting records occupy places that others need. */
export class WaitsInItsPlace extends Consuming {
  protected change({ notBefore, handler, ...options }: ConsumeOptions) {
    if (!notBefore) return { ...options, handler };
    const wait: RecordHandler = async (record, hold) => {
      if (notBefore(record) > Date.now()) throw new Error('not yet');
      await handler(record, hold);
    };
    return { ...options, handler: wait };
  }
}

export class ForgetsTheGroup extends Consuming {
  static #instances = 0;
  readonly #instance = ForgetsTheGroup.#instances++;
  protected change(options: ConsumeOptions) {
    return { ...options, group: `${options.group}-${this.#instance}` };
  }
}

export class AnnouncesNoStart extends Consuming {
  protected change({ onStart: _, ...options }: ConsumeOptions) {
    return options;
  }
}

export class WaitsForNoAnnouncement extends Consuming {
  protected change({ onStart, ...options }: ConsumeOptions) {
    return { ...options, onStart: async (start: PartitionStart) => void onStart?.(start) };
  }
}

export class CommitsOnlyWhatIsDone extends Delegating {
  override async committed(group: string, topic: string) {
    return new Map([...(await this.inner.committed(group, topic))].filter(([, offset]) => offset > 0));
  }
}

/** Every consumer is a separate group. */
export class SharesNoGroup extends Consuming {
  #consumers = 0;
  protected change(options: ConsumeOptions) {
    return { ...options, group: `${options.group}-${this.#consumers++}` };
  }
}

/** Commits a record when it is handed out: a rejected record is retried, but a crash loses it. */
export class RemembersBeforeDone extends Delegating {
  override async consume(options: ConsumeOptions): Promise<Consumer> {
    const timers = new Set<NodeJS.Timeout>();
    const again: (...of: Parameters<RecordHandler>) => void = (...of) => {
      options.handler(...of).catch(() => {
        const timer = setTimeout(() => again(...of), 100);
        timers.add(timer);
      });
    };
    const consumer = await this.inner.consume({ ...options, handler: async (...of) => again(...of) });
    const stop = () => {
      consumer.stop();
      for (const timer of timers) clearTimeout(timer);
    };
    const close = () => {
      stop();
      return consumer.close();
    };
    return { ...delegated(consumer), stop, close };
  }
}

function delegated(consumer: Consumer): Consumer {
  return {
    subscribe: (topics) => consumer.subscribe(topics),
    stop: () => consumer.stop(),
    close: () => consumer.close(),
    state: () => consumer.state(),
    closed: consumer.closed,
  };
}

export class ForgetsToSubscribe extends Delegating {
  override async consume(options: ConsumeOptions): Promise<Consumer> {
    return { ...delegated(await this.inner.consume(options)), subscribe: async () => undefined };
  }
}

export class CallsAfterStop extends Delegating {
  override async consume(options: ConsumeOptions): Promise<Consumer> {
    const consumer = await this.inner.consume(options);
    return { ...delegated(consumer), stop: () => undefined };
  }
}

export class ClosesTooEarly extends Delegating {
  override async consume(options: ConsumeOptions): Promise<Consumer> {
    const consumer = await this.inner.consume(options);
    const close = async () => {
      void consumer.close();
    };
    return { ...delegated(consumer), close };
  }
}

export class OwnsForEver extends Consuming {
  protected change({ handler, ...options }: ConsumeOptions): ConsumeOptions {
    return { ...options, handler: (record, hold) => handler(record, { ...hold, isOwn: () => true }) };
  }
}

export class ForgetsParts extends Consuming {
  protected change({ handler, ...options }: ConsumeOptions): ConsumeOptions {
    return { ...options, handler: (record, hold) => handler(record, { ...hold, isPartDone: () => false }) };
  }
}

/** Records done behind the group's offset come again. */
export class RemembersAnOffsetAlone extends Delegating {
  override async consume(options: ConsumeOptions) {
    const [topic = ''] = options.topics;
    const known = await this.inner.committed(options.group, topic);
    const consumer = await this.inner.consume(options);
    const hold = { isOwn: () => true, isPartDone: () => false, partDone: () => undefined };
    const ranges = new Map([...known].map(([partition, from]) => [partition, { from }]));
    for await (const record of topicRecords(this.inner, topic, { ranges }))
      options.handler(record, hold).catch(() => undefined);
    return consumer;
  }
}

/** Omits empty partitions, so that nobody sees their losses. */
export class SaysNothingOfTheEmpty extends Delegating {
  override async extent(topic: string) {
    return new Map([...(await this.inner.extent(topic))].filter(([, { first, next }]) => first < next));
  }
}

export class EndsWithItsLastRecord extends Delegating {
  override async extent(topic: string) {
    const extents = [...(await this.inner.extent(topic))];
    return new Map(
      extents.map(([partition, { first, next }]) => [partition, { first, next: Math.max(first, next - 1) }]),
    );
  }
}

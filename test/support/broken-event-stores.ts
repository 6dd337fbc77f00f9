/** Event stores that each violate one sentence of the contract, for the contract suite to detect. */
import {
  type Appended,
  type EventBatch,
  type EventStore,
  type NewEvent,
  NO_OBJECT,
  OtherHistory,
  type RecordedEvent,
  StoreUnavailable,
  type SubscribeOptions,
  WrongExpectedRevision,
} from '../../src/ports/event-store.js';

class Delegating implements EventStore {
  constructor(protected readonly inner: EventStore) {}
  append(stream: string, events: readonly NewEvent[], expected: number): Promise<Appended> {
    return this.inner.append(stream, events, expected);
  }
  read(stream: string, from?: number): AsyncIterable<RecordedEvent> {
    return this.inner.read(stream, from);
  }
  subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    return this.inner.subscribe(options);
  }
  endsWith(stream: string, revision: number, id: string): Promise<boolean> {
    return this.inner.endsWith(stream, revision, id);
  }
  head(): Promise<string> {
    return this.inner.head();
  }
  isAtOrAfter(position: string, head: string): boolean {
    return this.inner.isAtOrAfter(position, head);
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}

/** Compares the revision but not the event. */
export class EndsWithAnyEvent extends Delegating {
  override async endsWith(stream: string, revision: number) {
    for await (const event of this.inner.read(stream, revision)) return event.revision === revision;
    return false;
  }
}

export class LosesAppends extends Delegating {
  override async append(_: string, events: readonly NewEvent[], expected: number) {
    return { revision: expected + events.length, position: 'lost' };
  }
}

export class ResolvesBeforeStored extends Delegating {
  override async append(stream: string, events: readonly NewEvent[], expected: number) {
    this.inner.append(stream, events, expected).catch(() => undefined);
    return { revision: expected + events.length, position: 'soon' };
  }
}

export class AppendsInParts extends Delegating {
  override async append(stream: string, events: readonly NewEvent[], expected: number) {
    const appends = events.map((event, index) => () => this.inner.append(stream, [event], expected + index));
    let last: Appended = { revision: expected, position: '' };
    for (const append of appends) last = await append();
    return last;
  }
}

export class ForgetsExpectedRevision extends Delegating {
  override append(stream: string, events: readonly NewEvent[], expected: number): Promise<Appended> {
    const again = (error: unknown) => {
      if (error instanceof WrongExpectedRevision) return this.append(stream, events, error.actual);
      throw error;
    };
    return this.inner.append(stream, events, expected).catch(again);
  }
}

export class NotIdempotent extends Delegating {
  readonly #seen = new Set<string>();
  override async append(stream: string, events: readonly NewEvent[], expected: number) {
    if (events.some(({ id }) => this.#seen.has(id))) throw new WrongExpectedRevision(stream, expected, expected + 1);
    for (const { id } of events) this.#seen.add(id);
    return this.inner.append(stream, events, expected);
  }
}

export class GivesDataAsItStands extends Delegating {
  override async *read(stream: string, from?: number) {
    const asItStands = (data: RecordedEvent['data']) => (data === NO_OBJECT ? {} : data);
    for await (const { data, ...event } of this.inner.read(stream, from)) yield { ...event, data: asItStands(data) };
  }
}

export class DuplicatesPositions extends Delegating {
  override async *read(stream: string, from?: number) {
    for await (const event of this.inner.read(stream, from)) yield { ...event, position: 'one for all' };
  }
}

abstract class Changing extends Delegating {
  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    for await (const batch of this.inner.subscribe(options)) yield* this.change(batch);
  }
  protected abstract change(batch: EventBatch): Iterable<EventBatch>;
}

export class SubscribesInWrongOrder extends Changing {
  protected *change({ events, ...rest }: EventBatch) {
    yield { events: events.toReversed(), ...rest };
  }
}

export class GivesEventsTwice extends Changing {
  protected *change(batch: EventBatch) {
    if (batch.events.length > 0) yield { ...batch, caughtUp: false };
    yield batch;
  }
}

export class SkipsEvents extends Changing {
  protected *change({ events, ...rest }: EventBatch) {
    yield { events: events.length > 100 ? events.slice(1) : events, ...rest };
  }
}

export class MarksTooEarly extends Delegating {
  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    yield { events: [], position: await this.inner.head(), caughtUp: true };
    yield* this.inner.subscribe(options);
  }
}

export class NeverMarksWhatIsEmpty extends Changing {
  protected *change(batch: EventBatch) {
    if (batch.events.length > 0 || !batch.caughtUp) yield batch;
  }
}

export class HeadsAreOld extends Delegating {
  #first: Promise<string> | null = null;
  override head(): Promise<string> {
    this.#first ??= this.inner.head();
    return this.#first;
  }
}

export class NeverPassesForeignEvents extends Delegating {
  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    let position = await this.inner.head();
    for await (const batch of this.inner.subscribe(options)) {
      position = batch.events.at(-1)?.position ?? position;
      yield { ...batch, position };
    }
  }
}

export class TakesAnyPosition extends Delegating {
  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    try {
      yield* this.inner.subscribe(options);
    } catch (error) {
      if (!(error instanceof OtherHistory)) throw error;
      yield* this.inner.subscribe({ ...options, after: null });
    }
  }
}

export class ForgetsAfter extends Delegating {
  override subscribe(options: SubscribeOptions) {
    return this.inner.subscribe({ ...options, after: null });
  }
}

export class ForgetsPrefix extends Delegating {
  override subscribe(options: SubscribeOptions) {
    return this.inner.subscribe({ ...options, streamPrefix: '' });
  }
}

export class EndsWithError extends Delegating {
  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    yield* this.inner.subscribe(options);
    throw new StoreUnavailable('aborted');
  }
}

export class SubscriptionsOutliveClose extends Delegating {
  override async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    yield* this.inner.subscribe(options);
    if (!options.signal.aborted) await new Promise((resolve) => options.signal.addEventListener('abort', resolve));
  }
}

/**
 * A real dispatcher (startDispatcher) in a simulated process: slots, results of attempts and acknowledgments of publications
 * wait until the simulation grants them, so that it may be killed at each. After a kill nothing more happens in it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { requestIn } from '../../../../src/delivery/again/request.js';
import type { AttemptResult } from '../../../../src/delivery/attempt/attempt.js';
import { type Dispatcher, startDispatcher } from '../../../../src/delivery/dispatcher.js';
import type { Acquired, Deferred, Queueing } from '../../../../src/delivery/isolation/endpoint.js';
import type { Broker, ConsumeOptions, Consumer, FollowedPage, Positions } from '../../../../src/ports/broker.js';
import { DELIVERED, failedWith } from '../../generators/delivery-samples.js';
import { RecordingBroker } from '../../servers/recording-broker.js';
import type { MemoryRequestChains } from '../memory-request-chains.js';
import type { ResendWorld } from './resend-world.js';
import type { HandedOut } from './shared-topics.js';

/** What the dispatcher waits for. A slot is refused, and an attempt fails, unless `isGood`. gathering: of a bundle or of entries. */
interface Awaited {
  readonly kind: 'slot' | 'attempt' | 'publication' | 'gathering';
  readonly grant: (isGood: boolean) => void;
}

const NEVER = new Promise<never>(() => undefined);

/** One for all: in Node 20 each that was ever used slows down every promise, so thousands of dispatchers took hours. */
const HANDLING = new AsyncLocalStorage<HandedOut>();

export class SimulatedDispatcher {
  readonly #world: ResendWorld;
  readonly #chains: MemoryRequestChains;
  readonly #consuming = new Map<string, ConsumeOptions>();
  readonly #requestsTaken = new Set<number>();
  readonly awaited: Awaited[] = [];
  isDead = false;
  /** It may follow the requests topic up to this offset. */
  #mayFollow = 0;
  #followed: () => void = () => undefined;
  #confirmed: () => void = () => undefined;
  #granted: { readonly queueing: Queueing; readonly handling: HandedOut | undefined } | null = null;
  #dispatcher: Dispatcher | null = null;

  constructor(world: ResendWorld, chains: MemoryRequestChains) {
    this.#world = world;
    this.#chains = chains;
  }

  async start(): Promise<void> {
    const { parts, topics } = this.#world;
    this.#mayFollow = this.#requests.length;
    this.#dispatcher = await startDispatcher({
      ...{ ...parts, topics, group: 'group', store: 'store-1' },
      ...{ broker: this.#broker(), attempt: () => this.#attempt(), passHead: async () => this.#confirmed() },
      ...{
        scheduler: {
          acquire: (_account, _url, queueing?: Queueing) => this.#acquire(queueing),
          close: () => undefined,
        },
      },
      ...{ requestChains: this.#chains, backpressure: { asker: () => () => true }, later: this.#later, drainMs: 1 },
    });
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.isDead = true;
    this.awaited.length = 0;
    const closed = this.#dispatcher?.close();
    this.#followed();
    await closed;
  }

  /** Follows the requests topic a little. */
  follow(records: number): void {
    this.#mayFollow = Math.min(this.#requests.length, this.#mayFollow + records);
    this.#followed();
  }

  /** Whether it has read the request with this offset. */
  hasRead(offset: number): boolean {
    return offset < this.#mayFollow || this.#requestsTaken.has(offset);
  }

  /** @returns whether the topic had a record that may be handed out now */
  async handOutNext(topic: string): Promise<boolean> {
    // Confirmations are gathered for some ms of real time: without waiting for them a seed would not repeat a run.
    const confirmed = new Promise<void>((resolve) => {
      this.#confirmed = resolve;
    });
    const isHandedOut = this.#handOutNext(topic);
    if (isHandedOut && this.#world.topics.payments.includes(topic)) await confirmed;
    return isHandedOut;
  }

  #handOutNext(topic: string): boolean {
    const { shared, topics, clock, planted } = this.#world;
    const options = this.#consuming.get(topic);
    const record = shared.next(topic);
    if (!options || !record) return false;
    const { notBefore = 0, handle } = options.accept(record);
    if (notBefore > clock.now()) return false;
    if (options.mayBegin?.(false) === false) return false;
    if (topic === topics.requests && requestIn(record)) this.#requestsTaken.add(record.offset);
    const handedOut = shared.handOut(record);
    const isOwn = () => planted.ignoresOwnership === true || (!this.isDead && shared.isHeld(handedOut));
    const hold = {
      isOwn,
      partDone: (part: number) => {
        if (!this.isDead) shared.partDone(handedOut, part);
      },
      isPartDone: (part: number) => shared.isPartDone(handedOut, part),
      keep: () => undefined,
    };
    if (planted.commitsEarly) shared.settle(handedOut, true);
    const ended = (isDone: boolean) => {
      if (!this.isDead) shared.settle(handedOut, isDone);
    };
    void HANDLING.run(handedOut, () => handle(record, hold)).then(
      () => ended(true),
      () => ended(false),
    );
    return true;
  }

  /** Ends a gathering when the simulation grants it, so that any number of deliveries may share a bundle. */
  readonly #later = (flush: () => void) => {
    const awaited: Awaited = { kind: 'gathering', grant: flush };
    if (!this.isDead) this.awaited.push(awaited);
    return () => {
      const at = this.awaited.indexOf(awaited);
      if (at !== -1) this.awaited.splice(at, 1);
    };
  };

  get #requests() {
    return this.#world.shared.of(this.#world.topics.requests);
  }

  async #acquire(queueing: Queueing = { bytes: 0 }): Promise<Acquired | Deferred> {
    const handling = HANDLING.getStore();
    const isGood = await this.#wait('slot');
    if (!isGood) return { kind: 'deferred', why: 'queue', pausedMs: 0, turnMs: 0 };
    this.#granted = { queueing, handling };
    return { kind: 'acquired', isFailing: false, hasWaited: false, ended: () => null, leave: () => undefined };
  }

  async #attempt(): Promise<AttemptResult> {
    if (this.isDead) return NEVER;
    const { queueing, handling } = this.#granted ?? {};
    if (!queueing || !handling) throw new Error('an attempt without a slot');
    const { shared, judge } = this.#world;
    const { delivery = '', chain = 0 } = queueing;
    judge.attempted({ delivery, chain, isOwned: shared.isHeld(handling), hasRead: (offset) => this.hasRead(offset) });
    return (await this.#wait('attempt')) ? DELIVERED : failedWith(500);
  }

  #wait(kind: Awaited['kind']): Promise<boolean> {
    if (this.isDead) return NEVER;
    return new Promise((grant) => this.awaited.push({ kind, grant }));
  }

  #broker(): Broker {
    const { shared, clock, judge, topics, planted } = this.#world;
    const broker: Broker = Object.assign(new RecordingBroker(), {
      publish: async (topic: string, records: Parameters<Broker['publish']>[1]) => {
        if (this.isDead) return NEVER;
        const isLost = planted.losesRetryRecord?.() === true && topics.isTier(topic);
        const offsets = isLost ? records.map(() => 0) : shared.append(topic, records, clock.now());
        if (topic === topics.deliveries) judge.logged(this, records);
        if (topics.isTier(topic)) this.#world.published(records);
        await this.#wait('publication');
        return offsets;
      },
      follow: (topic: string, positions: Positions, { signal }: { signal: AbortSignal }) =>
        this.#pages(topic, positions.get(0)?.offset ?? 0, signal),
      read: async (topic: string, _: number, offset: number) => shared.of(topic)[offset] ?? null,
      extent: async (topic: string) => new Map([[0, { first: 0, next: shared.of(topic).length }]]),
      listTopics: async () => shared.names,
      consume: async (options: ConsumeOptions) => this.#consume(options),
    });
    return broker;
  }

  async *#pages(topic: string, from: number, signal: AbortSignal): AsyncIterable<FollowedPage> {
    let offset = from;
    while (!signal.aborted) {
      const items = this.#world.shared.of(topic).slice(offset, this.#mayFollow);
      const last = items.at(-1);
      if (last) {
        offset = last.offset + 1;
        const position = { offset, before: { offset: last.offset, timestamp: last.timestamp } };
        yield { partition: 0, items, position, end: this.#requests.length };
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#followed = resolve;
      });
    }
  }

  #consume(options: ConsumeOptions): Consumer {
    for (const topic of options.topics) this.#consuming.set(topic, options);
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    return {
      closed,
      stop: () => undefined,
      close: async () => close(),
      isOwner: (topic) => this.#world.shared.ownerOf(topic) === this,
      state: () => ({ connected: true, inHand: 0, partitions: [] }),
    };
  }
}

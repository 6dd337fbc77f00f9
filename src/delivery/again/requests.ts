/**
 * The last chain of each delivery that was requested, for dispatchers: a record ends where a later chain of its delivery
 * started. Dispatchers share the requests topic in their group, and each follows all of it. What it reads is stored together
 * with its position in a file of this process: a restart reads only what was published since, and no request is forgotten.
 *
 *   reading -> complete      (it has what the topic had at the start)
 *   complete -> reading      (the file is damaged: it is made again from the topic, and deliveries wait for that)
 *
 * While the file takes no writes, requests are kept in memory. At MAX_UNSTORED nothing more is read, and deliveries wait. A
 * topic that the broker cannot read holds nothing up: its other followers learn nothing new from it either.
 */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Logger } from '../../observability/logger.js';
import { type Broker, type FollowedPage, type Position, TopicRecreated } from '../../ports/broker.js';
import {
  type RequestChains,
  RequestChainsDamaged,
  RequestChainsUnusable,
  type RequestedChain,
} from '../../ports/request-chains.js';
import { retry, type Sleep, sleep } from '../../time/retry.js';
import type { Delivery } from '../delivery.js';
import type { Topics } from '../topics.js';
import { type Request, requestIn } from './request.js';

/** About 20 MB. */
const MAX_UNSTORED = 50_000;
/** Rows of one transaction: about 5 ms. */
const STORED_TOGETHER = 500;
const STORE_AGAIN_MS = 1_000;

export interface RequestsParts {
  readonly logger: Logger;
  readonly broker: Pick<Broker, 'follow' | 'extent' | 'read'>;
  readonly topics: Pick<Topics, 'requests'>;
  readonly requestChains: RequestChains;
  /** The identity of the event store behind the read model. */
  readonly store: string;
  readonly maxUnstored?: number;
  readonly pause?: Sleep;
}

/** It is not known now whether a later chain exists. */
export class RequestsUnknown extends Error {
  override readonly name = 'RequestsUnknown';
  readonly code = 'REQUESTS_UNKNOWN';
}

export class Requests {
  readonly #parts: RequestsParts;
  readonly #maxUnstored: number;
  readonly #pause: Sleep;
  /** By delivery and record position, those that the file does not have yet. */
  readonly #unstored = new Map<string, RequestedChain>();
  /** Up to where everything is in the file or in #unstored; null: nothing is. */
  #read: Position | null = null;
  #stored: Position | null = null;
  #storing: Promise<void> = Promise.resolve();
  /** Set from the time when damage is found until the file is complete again. */
  #isIncomplete = false;
  #mustClear = false;
  /** Logged once, and so is its end. */
  #isUnwritable = false;
  #isStoringAgain = false;
  #stopping = new AbortController().signal;
  /** Aborted to read the topic from the start. */
  #following = new AbortController();

  constructor(parts: RequestsParts) {
    this.#parts = parts;
    this.#maxUnstored = parts.maxUnstored ?? MAX_UNSTORED;
    this.#pause = parts.pause ?? sleep;
  }

  /** Why deliveries wait; null: they do not. */
  get trouble(): string | null {
    const { trouble } = this.#parts.requestChains;
    if (this.#isIncomplete) return trouble ?? 'requests.sqlite was damaged: its topic is being read again';
    return this.#unstored.size < this.#maxUnstored
      ? null
      : `${trouble}: ${this.#unstored.size} requests are not stored`;
  }

  /**
   * The last chain of the delivery, if it started after its own; else null. A payment that is published again is another
   * delivery. @throws RequestsUnknown: reject the record, so that it comes again
   */
  laterChain({ id, payment, chain }: Pick<Delivery, 'id' | 'payment' | 'chain'>): number | null {
    this.#assertKnown();
    const unstored = this.#unstored.size === 0 ? 0 : (this.#unstored.get(keyOf(id, payment))?.chain ?? 0);
    const last = Math.max(unstored, this.#latestStored(id, payment));
    return last > chain ? last : null;
  }

  /** Also learns a request that this process consumes before it has followed the topic up to it. @throws RequestsUnknown */
  learn(request: Request): void {
    this.#assertKnown();
    if (request.delivery.chain <= (this.#read?.offset ?? 0)) return;
    this.#learn(request);
    if (this.#unstored.size >= STORED_TOGETHER && !this.#isUnwritable) void this.#store();
  }

  /**
   * Fulfilled once it has the requests of before the call, or the topic cannot be read; it is followed from then on.
   * @throws BrokerUnavailable
   */
  async start(signal: AbortSignal): Promise<void> {
    const { broker, topics } = this.#parts;
    this.#stopping = signal;
    await broker.extent(topics.requests);
    await new Promise<void>((resolve) => {
      const failed = (error: unknown) => {
        if (!this.#isOfFile(error)) resolve();
      };
      void retry(() => this.#follow(resolve), { signal, failed, pause: this.#pause }).then(resolve);
    });
  }

  async #follow(completed: () => void): Promise<void> {
    const { broker, topics, requestChains, store } = this.#parts;
    if (this.#mustClear) requestChains.clear();
    this.#mustClear = false;
    requestChains.open(`${store} ${topics.requests}`);
    this.#read = this.#stored = requestChains.position;
    this.#following = new AbortController();
    const signal = AbortSignal.any([this.#stopping, this.#following.signal]);
    const { first, next: end } = (await broker.extent(topics.requests)).get(0) ?? { first: 0, next: 0 };
    const complete = () => {
      if (signal.aborted) return;
      this.#isIncomplete = false;
      completed();
    };
    // Kafka sends the first page of a topic without new records a second later.
    if (first === end || (await this.#isReadUpTo(end))) complete();
    const positions = new Map(this.#read ? [[0, this.#read]] : []);
    for await (const page of broker.follow(topics.requests, positions, { signal })) {
      await this.#take(page, signal);
      if (page.position.offset >= end) complete();
    }
    if (this.#isIncomplete) throw new RequestChainsDamaged('requests.sqlite is damaged');
  }

  /** The same topic has the record that was read last, and nothing after it. */
  async #isReadUpTo(end: number): Promise<boolean> {
    const { broker, topics } = this.#parts;
    const { offset, before } = this.#read ?? { offset: 0, before: null };
    if (offset !== end || !before) return false;
    const found = await broker.read(topics.requests, 0, before.offset);
    return found?.timestamp === before.timestamp;
  }

  async #take({ items, position }: FollowedPage, signal: AbortSignal): Promise<void> {
    for (const item of items) {
      const request = 'offset' in item ? requestIn(item) : null;
      if (request) this.#learn(request);
    }
    this.#read = position;
    await this.#store();
    while (this.#unstored.size >= this.#maxUnstored && !signal.aborted) await this.#pause(STORE_AGAIN_MS, signal);
  }

  #learn({ delivery: { id: delivery, chain }, places, at }: Request): void {
    for (const payment of places) {
      const key = keyOf(delivery, payment);
      const isLater = chain > (this.#unstored.get(key)?.chain ?? 0);
      if (isLater) this.#unstored.set(key, { delivery, payment, chain, at });
    }
  }

  /** Never rejects. */
  #store(): Promise<void> {
    this.#storing = this.#storing.then(() => this.#storeAll()).catch((error: unknown) => this.#notStored(error));
    return this.#storing;
  }

  async #storeAll(): Promise<void> {
    const { requestChains, logger } = this.#parts;
    while (this.#unstored.size > 0 || this.#read?.offset !== this.#stored?.offset) {
      const some = [...this.#unstored].slice(0, STORED_TOGETHER);
      const isLast = some.length === this.#unstored.size;
      requestChains.add(
        some.map(([, chain]) => chain),
        isLast ? this.#read : null,
      );
      if (isLast) this.#stored = this.#read;
      for (const [key, chain] of some) if (this.#unstored.get(key) === chain) this.#unstored.delete(key);
      if (this.#isUnwritable) logger.info('requests are stored again');
      this.#isUnwritable = false;
      if (!isLast) await nextTick();
    }
  }

  #notStored(error: unknown): void {
    if (this.#stopping.aborted) return;
    this.#isOfFile(error);
    if (this.#isIncomplete || this.#isStoringAgain) return;
    this.#isStoringAgain = true;
    void this.#pause(STORE_AGAIN_MS, this.#stopping).then(() => {
      this.#isStoringAgain = false;
      if (!this.#stopping.aborted) void this.#store();
    });
  }

  #latestStored(id: string, payment: string | null): number {
    try {
      return this.#parts.requestChains.latest(id, payment);
    } catch (error) {
      this.#isOfFile(error);
      throw error;
    }
  }

  /** Logs it, and prepares its remedy. @returns whether the file is to blame, so that deliveries wait */
  #isOfFile(error: unknown): boolean {
    const { logger } = this.#parts;
    if (error instanceof RequestChainsUnusable) {
      if (!this.#isUnwritable) logger.warn({ err: error }, 'requests cannot be stored; retrying');
      this.#isUnwritable = true;
      return true;
    }
    if (error instanceof RequestChainsDamaged) {
      if (!this.#isIncomplete) logger.warn({ err: error }, 'deliveries wait for the requests topic to be read again');
      this.#isIncomplete = this.#mustClear = true;
      this.#following.abort();
      return true;
    }
    logger.warn(
      { err: error },
      'cannot follow the requests topic: deliveries continue without newer requests; retrying',
    );
    if (!(error instanceof TopicRecreated)) return false;
    this.#unstored.clear();
    this.#mustClear = true;
    return true;
  }

  #assertKnown(): void {
    const { trouble } = this;
    if (trouble !== null) throw new RequestsUnknown(trouble);
  }
}

const keyOf = (delivery: string, payment: string | null) => `${delivery} ${payment}`;

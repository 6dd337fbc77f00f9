/** The endpoints in the scheduler, by account: those with a queue, an attempt in flight or a result to be recorded. Bounds each queue. */
import { LRUCache } from 'lru-cache';
import { type EndpointKey, endpointKey } from '../endpoint-key.js';
import type { CpuCost } from './cpu-meter.js';
import { Account, Endpoint, type QueuedDelivery, type Queueing } from './endpoint.js';
import { EndpointPace } from './endpoint-pace.js';

const REMEMBERED = 10_000;
/** What an endpoint takes within that time waits for this process. It is not deferred: its records wait in their topics. */
const SHORTLY_MS = 1_000;
/** Waiting for endpoints: half of what the dispatcher may have in flight. */
const FOR_ENDPOINTS = { records: 8_192, bytes: 32 * 1024 * 1024 };
/**
 * Of that, for endpoints that are cheap, for those of new accounts, for those that may be cheap, and for others, each with those
 * after it: however many accounts are hostile, the others have room. An account may have half of what is left, or FEW.
 */
const SHARES = { cheap: 1, new: 5 / 6, unsure: 2 / 3, other: 1 / 2 };
const FEW = { cheap: 16, new: 16, unsure: 16, other: 8 };
const FEW_BYTES_EACH = 8 * 1024;
/** Of an endpoint that seems cheap: for as many attempts show whether it is. */
const UNTIL_SURE = 12;

export interface EndpointLimits {
  /** The largest window. */
  readonly perEndpoint: number;
  /** Idle endpoints: so many of the proven ones, and so many of all others, which push out none of those. Default: 10,000. */
  readonly remembers?: number;
  /** Of what waits for endpoints. Default: 32 MiB. */
  readonly waitingBytes?: number;
}

export class Endpoints {
  readonly #accounts = new Map<number, Account>();
  readonly #idleProven: LRUCache<EndpointKey, EndpointPace>;
  readonly #idleOthers: LRUCache<EndpointKey, EndpointPace>;
  readonly #perEndpoint: number;
  readonly #waitingBytes: number;
  /** In all queues together. */
  waiting = 0;
  waitingBytes = 0;

  constructor({ perEndpoint, remembers = REMEMBERED, waitingBytes = FOR_ENDPOINTS.bytes }: EndpointLimits) {
    this.#perEndpoint = perEndpoint;
    this.#waitingBytes = waitingBytes;
    // Grows as needed: with max, its arrays would be allocated at once.
    const limit = { maxSize: remembers, sizeCalculation: () => 1 };
    this.#idleProven = new LRUCache(limit);
    this.#idleOthers = new LRUCache(limit);
  }

  /** Undefined: nothing is queued for it, in flight, or to be recorded. */
  costOf(accountId: number, url: string): CpuCost | undefined {
    return this.known(accountId, url)?.pace.cost;
  }

  /** Undefined: nothing is queued for it, in flight, or to be recorded. */
  known(accountId: number, url: string): Endpoint | undefined {
    return this.#accounts.get(accountId)?.endpoints.get(url);
  }

  *all(): Iterable<Endpoint> {
    for (const { endpoints } of this.#accounts.values()) yield* endpoints.values();
  }

  /** Call `mayForget` afterwards where nothing was queued. */
  of(accountId: number, url: string): Endpoint {
    const account = this.#accounts.get(accountId) ?? new Account(accountId);
    const known = account.endpoints.get(url);
    if (known) return known;
    const key = endpointKey(accountId, url);
    const pace = this.#idleProven.get(key) ?? this.#idleOthers.get(key) ?? new EndpointPace();
    const endpoint = new Endpoint(url, account, key, pace);
    account.endpoints.set(url, endpoint);
    this.#accounts.set(accountId, account);
    return endpoint;
  }

  /** Nothing changes unless the endpoint is idle. */
  mayForget({ url, account, key, pace, isIdle }: Endpoint): void {
    if (!isIdle || !account.endpoints.delete(url)) return;
    (pace.isProven ? this.#idleProven : this.#idleOthers).set(key, pace);
    (pace.isProven ? this.#idleOthers : this.#idleProven).delete(key);
    if (account.endpoints.size === 0) this.#accounts.delete(account.id);
  }

  /** The one in the queue that the delivery's later chain replaces. Only requests begin later chains. */
  earlierChain({ queue }: Endpoint, { delivery, chain = 0 }: Queueing): QueuedDelivery | undefined {
    if (chain === 0) return undefined;
    return queue.find(({ queueing: one }) => one.delivery === delivery && (one.chain ?? 0) < chain);
  }

  /** @param earlier the one whose place it takes; absent: to the end, or behind those that go first */
  enqueue(queued: QueuedDelivery, earlier?: QueuedDelivery): void {
    const { queue, first } = queued.endpoint;
    if (earlier) {
      queue[queue.indexOf(earlier)] = queued;
      queued.goesFirst = earlier.goesFirst;
    } else queue.splice(queued.goesFirst ? first : queue.length, 0, queued);
    this.#count(queued, 1);
    if (earlier) this.#count(earlier, -1);
  }

  /** Moves a queued delivery behind those that go first. */
  putFirst(queued: QueuedDelivery): void {
    if (queued.goesFirst) return;
    this.cut(queued.endpoint, queued.endpoint.queue.indexOf(queued), 1);
    queued.goesFirst = true;
    this.enqueue(queued);
  }

  /** Takes out of the queue: from that one on, so many. */
  cut(endpoint: Endpoint, from: number, count = Number.POSITIVE_INFINITY): QueuedDelivery[] {
    const all = endpoint.queue.splice(from, count);
    for (const queued of all) this.#count(queued, -1);
    return all;
  }

  /** With nothing queued or in flight, it may always queue one. */
  hasRoom({ endpoint, goesFirst }: QueuedDelivery, now: number): boolean {
    const { pace, inFlight, queue, first } = endpoint;
    if (inFlight === 0 && queue.length === 0) return true;
    if (goesFirst) return first + inFlight < pace.queues(now, this.#perEndpoint);
    if (queue.length + inFlight >= pace.queues(now, this.#perEndpoint)) return false;
    const isSmall = this.waiting < SHARES.unsure * FOR_ENDPOINTS.records || queue.length < UNTIL_SURE;
    const isCheap = pace.isCheap || (pace.seemsCheap && isSmall);
    if (isCheap && queue.length < pace.takesWithin(SHORTLY_MS, now)) return true;
    const { records, bytes } = this.#roomFor(endpoint, now);
    return endpoint.account.waiting < records && endpoint.account.waitingBytes < bytes;
  }

  /**
   * Whether the last delivery in the endpoint's queue is to be deferred: the account was given room while nothing was known of it,
   * and has less room by now. Otherwise 400 hostile accounts would keep what new accounts need for as long as they wait.
   */
  hasTooMany(endpoint: Endpoint, now: number): boolean {
    const { pace, queue, first, account } = endpoint;
    if (pace.isProven || (pace.isUnknown(now) && account.isNew(now)) || queue.length <= first + 1) return false;
    const { records, bytes } = this.#roomFor(endpoint, now);
    return account.waiting > records || account.waitingBytes > bytes;
  }

  /** Of the endpoint's account. */
  #roomFor({ pace, account }: Endpoint, now: number) {
    const isNew = pace.isUntried && account.isNew(now);
    const mayBeCheap = pace.seemsCheap || pace.isUnknown(now);
    const kind = pace.isCheap ? 'cheap' : isNew ? 'new' : mayBeCheap ? 'unsure' : 'other';
    const [share, few] = [SHARES[kind], FEW[kind]];
    return {
      records: Math.max(few, (share * FOR_ENDPOINTS.records - this.waiting) / 2),
      bytes: Math.max(FEW_BYTES_EACH * few, (share * this.#waitingBytes - this.waitingBytes) / 2),
    };
  }

  #count({ endpoint, goesFirst, queueing: { bytes } }: QueuedDelivery, more: 1 | -1): void {
    if (goesFirst) endpoint.first += more;
    endpoint.bytes += more * bytes;
    endpoint.account.waiting += more;
    endpoint.account.waitingBytes += more * bytes;
    this.waiting += more;
    this.waitingBytes += more * bytes;
  }
}

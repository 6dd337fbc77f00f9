/** The endpoints in the scheduler, by account: those with a queue or an attempt in flight. Bounds each queue. */
import { LRUCache } from 'lru-cache';
import { type EndpointKey, endpointKey } from '../endpoint-key.js';
import type { CpuCost } from './cpu-meter.js';
import { Account, Endpoint, type QueuedDelivery, type Queueing } from './endpoint.js';
import { EndpointPace } from './endpoint-pace.js';

/** Idle endpoints: so many of the proven ones, and so many of all others, which push out none of those. */
const REMEMBERED = 10_000;
/** Queued for one endpoint. A burst of 1,000 events is deferred by none. */
const MAX_QUEUED = 1_000;
/** In all queues, well below what the dispatcher has in flight. From there on an endpoint has its share, or what it takes shortly. */
const GLOBAL_SOFT_LIMIT = 7_500;
const SHORTLY_MS = 1_000;
/** Events may have 256 KiB each: the same in bytes, for events of 16 KiB. */
const MAX_BYTES = 16 * 1024 * 1024;
const GLOBAL_BYTES = 32 * 1024 * 1024;

export class Endpoints {
  readonly #accounts = new Map<number, Account>();
  readonly #idleProven = new LRUCache<EndpointKey, EndpointPace>({ max: REMEMBERED });
  readonly #idleOthers = new LRUCache<EndpointKey, EndpointPace>({ max: REMEMBERED });
  #size = 0;
  /** In all queues together. */
  waiting = 0;
  waitingBytes = 0;

  /** Undefined: nothing is queued for it, or in flight. */
  costOf(accountId: number, url: string): CpuCost | undefined {
    return this.#accounts.get(accountId)?.endpoints.get(url)?.pace.cost;
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
    this.#size += 1;
    return endpoint;
  }

  /** Nothing changes where the endpoint has a queue or an attempt in flight. */
  mayForget({ url, account, key, pace, inFlight, queue }: Endpoint): void {
    if (inFlight > 0 || queue.length > 0 || !account.endpoints.delete(url)) return;
    (pace.isProven ? this.#idleProven : this.#idleOthers).set(key, pace);
    (pace.isProven ? this.#idleOthers : this.#idleProven).delete(key);
    this.#size -= 1;
    if (account.endpoints.size === 0) this.#accounts.delete(account.id);
  }

  /** The one in the queue that the delivery's later chain replaces. Only requests begin later chains. */
  earlierChain({ queue }: Endpoint, { delivery, chain = 0 }: Queueing): QueuedDelivery | undefined {
    if (chain === 0) return undefined;
    return queue.find(({ queueing: one }) => one.delivery === delivery && (one.chain ?? 0) < chain);
  }

  /** @param earlier the one whose place it takes; absent: to the end */
  enqueue(queued: QueuedDelivery, earlier?: QueuedDelivery): void {
    const { queue } = queued.endpoint;
    queue[earlier ? queue.indexOf(earlier) : queue.length] = queued;
    this.#count(queued, 1);
    if (earlier) this.#count(earlier, -1);
  }

  /** Takes out of the queue: from that one on, so many. */
  cut(endpoint: Endpoint, from: number, count = Number.POSITIVE_INFINITY): QueuedDelivery[] {
    const all = endpoint.queue.splice(from, count);
    for (const queued of all) this.#count(queued, -1);
    return all;
  }

  /** An idle endpoint may always queue one. */
  hasRoom({ pace, inFlight, queue, bytes }: Endpoint, now: number): boolean {
    const takes = Math.max(pace.takesWithin(pace.patienceMs(now), now) - inFlight, inFlight === 0 ? 1 : 0);
    const share = Math.max(GLOBAL_SOFT_LIMIT / this.#size, pace.isCheap ? pace.takesWithin(SHORTLY_MS, now) : 0);
    const most = this.waiting < GLOBAL_SOFT_LIMIT ? MAX_QUEUED : Math.min(MAX_QUEUED, Math.ceil(share));
    const mostBytes = this.waitingBytes < GLOBAL_BYTES ? MAX_BYTES : Math.min(MAX_BYTES, GLOBAL_BYTES / this.#size);
    return queue.length < Math.min(takes, most) && bytes < mostBytes;
  }

  #count({ endpoint, queueing: { bytes } }: QueuedDelivery, more: 1 | -1): void {
    endpoint.bytes += more * bytes;
    this.waiting += more;
    this.waitingBytes += more * bytes;
  }
}

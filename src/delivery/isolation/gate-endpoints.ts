/**
 * The endpoints in the gate, by account: those with a line or an attempt in progress, and how many deliveries may wait in
 * the line of each. The pace of idle ones is remembered.
 */
import { LRUCache } from 'lru-cache';
import { type Breakers, EndpointBreakers, type EndpointKey, endpointKey } from './circuit-breaker.js';
import { Account, Endpoint, type Visitor, type Waiting } from './endpoint.js';
import { EndpointPace } from './endpoint-pace.js';

/** Deliveries that wait, and their bytes. */
export interface Load {
  readonly waiting: number;
  readonly waitingBytes: number;
}

/** Of the idle endpoints' paces: so many of the quick ones, and so many of all others, which push out none of those. */
const REMEMBERED = 10_000;
/** A burst of 1,000 events goes to no tier. */
const BURST = 1_000;
const MOST = 2_000;
const PATIENT_MS = 60_000;
/**
 * In all lines, well below what the dispatcher has in flight. From there on an endpoint has only what it takes soon and, if
 * it is not swift, its share of this.
 */
const MUCH = 7_500;
/** Events may have 256 KiB each: the same in bytes, for events of 16 KiB. */
const MOST_BYTES = 16 * 1024 * 1024;
const MUCH_BYTES = 32 * 1024 * 1024;

export interface GateEndpointsParts {
  /** The largest window. */
  readonly perEndpoint: number;
  readonly breakers: Breakers;
  /** A line that would take longer has no room: the delay of the first tier, ms. */
  readonly withinMs: number;
}

export class GateEndpoints {
  readonly #parts: GateEndpointsParts;
  readonly #accounts = new Map<number, Account>();
  readonly #idleQuick = new LRUCache<EndpointKey, EndpointPace>({ max: REMEMBERED });
  readonly #idleOthers = new LRUCache<EndpointKey, EndpointPace>({ max: REMEMBERED });
  /** Endpoints here, and what waits in all lines together. */
  size = 0;
  waiting = 0;
  waitingBytes = 0;

  constructor(parts: GateEndpointsParts) {
    this.#parts = parts;
  }

  get accounts(): number {
    return this.#accounts.size;
  }

  *all(): Iterable<Endpoint> {
    for (const { endpoints } of this.#accounts.values()) yield* endpoints.values();
  }

  /** Call `mayForget` afterwards where no delivery entered. */
  of(accountId: number, url: string): Endpoint {
    const account = this.#accounts.get(accountId) ?? new Account(accountId);
    const known = account.endpoints.get(url);
    if (known) return known;
    const { perEndpoint, breakers } = this.#parts;
    const key = endpointKey(accountId, url);
    const pace = this.#takeIdle(key) ?? new EndpointPace(perEndpoint);
    const endpoint = new Endpoint(url, account, pace, new EndpointBreakers(breakers, key));
    account.endpoints.set(url, endpoint);
    this.#accounts.set(accountId, account);
    this.size += 1;
    return endpoint;
  }

  /** Nothing changes where the endpoint has a line or an attempt in progress. */
  mayForget({ url, account, pace, underWay, line }: Endpoint): void {
    if (underWay > 0 || line.length > 0 || !account.endpoints.delete(url)) return;
    this.size -= 1;
    (pace.isQuick ? this.#idleQuick : this.#idleOthers).set(endpointKey(account.id, url), pace);
    if (account.endpoints.size === 0) this.#accounts.delete(account.id);
  }

  #takeIdle(key: EndpointKey): EndpointPace | undefined {
    const pace = this.#idleQuick.get(key) ?? this.#idleOthers.get(key);
    this.#idleQuick.delete(key);
    this.#idleOthers.delete(key);
    return pace;
  }

  /** The one in line that the delivery's later chain replaces. */
  earlierChain({ line }: Endpoint, { delivery, chain = 0 }: Waiting): Visitor | undefined {
    // Only requests begin later chains.
    if (chain === 0) return undefined;
    return line.find(({ waiting: one }) => one.delivery === delivery && (one.chain ?? 0) < chain);
  }

  /** @param earlier the one whose place it takes; absent: to the end */
  lineUp(visitor: Visitor, earlier?: Visitor): void {
    const { line } = visitor.endpoint;
    line[earlier ? line.indexOf(earlier) : line.length] = visitor;
    this.#countWaiting(visitor, 1);
    if (earlier) this.#countWaiting(earlier, -1);
  }

  /** Takes the first out of the line. */
  first(endpoint: Endpoint): Visitor | undefined {
    const visitor = endpoint.line.shift();
    if (visitor) this.#countWaiting(visitor, -1);
    return visitor;
  }

  /** Takes out of the line: from that place on, so many. */
  cut(endpoint: Endpoint, from: number, count = Number.POSITIVE_INFINITY): Visitor[] {
    const visitors = endpoint.line.splice(from, count);
    for (const visitor of visitors) this.#countWaiting(visitor, -1);
    return visitors;
  }

  /** How many are held up by this process rather than by their endpoint: what quick endpoints would take within `ms`. */
  waitingForUs(ms: number): Load {
    let [waiting, waitingBytes] = [0, 0];
    for (const { line, bytes, pace } of this.all()) {
      const taken = pace.isQuick ? Math.min(line.length, pace.takesWithin(ms)) : 0;
      waiting += taken;
      waitingBytes += line.length > 0 ? (bytes * taken) / line.length : 0;
    }
    return { waiting, waitingBytes };
  }

  #countWaiting({ endpoint, waiting: { bytes } }: Visitor, more: 1 | -1): void {
    endpoint.bytes += more * bytes;
    this.waiting += more;
    this.waitingBytes += more * bytes;
  }

  hasRoom(endpoint: Endpoint): boolean {
    const isMuch = this.waitingBytes >= MUCH_BYTES;
    const mostBytes = isMuch ? Math.min(MOST_BYTES, MUCH_BYTES / this.size) : MOST_BYTES;
    return endpoint.line.length < this.roomOf(endpoint) && endpoint.bytes < mostBytes;
  }

  /**
   * How many deliveries may wait. Quick endpoints may take a burst, and so may new ones, of which nothing is known. A slow one
   * that takes deliveries may have what it takes within a minute; every other one only what it takes before a delivery would
   * come back from the first tier.
   */
  roomOf({ pace, underWay, old }: Endpoint): number {
    const share = Math.ceil(MUCH / this.size);
    const isMuch = this.waiting >= MUCH;
    // Of those that the endpoint takes soon some are under way. One that has none under way may always have one.
    const taken = pace.takesWithin(this.#parts.withinMs) - underWay;
    const soon = Math.min(MOST, Math.max(taken, underWay === 0 ? 1 : 0));
    if (pace.trust === 'new' && old === 0) return isMuch ? share : BURST;
    if (isMuch) return pace.trust === 'proven' && pace.isSwift ? soon : Math.min(soon, share);
    if (pace.isQuick) return Math.max(BURST, soon);
    return pace.isTaking ? Math.max(soon, Math.min(BURST, pace.takesWithin(PATIENT_MS))) : soon;
  }
}

/**
 * The gate before the endpoints: each endpoint (account and URL) has a small concurrency of its own, a bounded line of
 * those that wait, and a circuit breaker; an account has a part of the whole, however many URLs it has; over all of them
 * there is one limit, shared in turn. A slow URL fills its own line and no other, and those who wait for slow URLs never
 * keep the dispatcher from taking records for others.
 */
import type { BreakerChange, CircuitBreakers, EndpointSignal, Permission } from './circuit-breaker.js';
import { type EndpointKey, endpointKey } from './endpoint-key.js';
import { type Later, PacedRefusals } from './paced-refusals.js';
import { Line, WaitingLines } from './waiting-lines.js';

export type Entry = Entered | Refused;

export interface Entered {
  readonly kind: 'entered';
  /** Frees the place. Pass what the attempt says of its endpoint, if one was made. Idempotent. */
  readonly leave: (signal?: EndpointSignal) => BreakerChange;
}

/** Go elsewhere, at once. */
export interface Refused {
  readonly kind: 'refused';
  readonly why: 'line-full' | 'open' | 'closed';
  /** How long there will hardly be a place: what is left of the breaker's pause; what the first in line has waited. */
  readonly forMs: number;
}

/** Of an account, however many there are. */
const LEAST_PART = 4;
const OPEN_TO_ALL = 0.75;

const CLOSED: Refused = { kind: 'refused', why: 'closed', forMs: 0 };
const PASS: Permission = { kind: 'pass', probe: null };

type Pass = Extract<Permission, { kind: 'pass' }>;

interface Visitor {
  readonly bytes: number;
  /** When it came. */
  readonly at: number;
  readonly pass: Pass;
  readonly resolve: (entry: Entry) => void;
}

interface Endpoint {
  readonly key: EndpointKey;
  readonly account: Account;
  active: number;
  /** Since when no attempt has ended, but by failures; null where none was made since one has. */
  standsSince: number | null;
  readonly line: Line<Visitor>;
}

interface Account {
  readonly id: number;
  active: number;
  endpoints: number;
}

export interface GateLimits {
  readonly total: number;
  readonly perEndpoint: number;
  /** Less where many accounts are here. As many as all without it. */
  readonly perAccount?: number;
}

export interface GateParts extends GateLimits {
  /** Without them none opens. */
  readonly breakers?: CircuitBreakers;
  /** ms that never go back; without it nobody is told how long a full line takes, and no endpoint ever stands. */
  readonly now?: () => number;
  /** The pace at which a line is refused. */
  readonly later?: Later;
}

export interface GateState {
  /** Of all endpoints together. */
  readonly active: number;
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly breakersOpen: number;
}

export class EndpointGate {
  readonly #parts: GateParts;
  readonly #accounts = new Map<number, Account>();
  readonly #endpoints = new Map<EndpointKey, Endpoint>();
  /** Endpoints that have someone waiting and may start another, in the order of their turns. */
  readonly #ready = new Set<Endpoint>();
  readonly #lines = new WaitingLines();
  readonly #refusals: PacedRefusals<Refused>;
  #active = 0;
  #closed = false;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#refusals = new PacedRefusals(this.#lines, parts.later);
  }

  /** @param bytes what is held in memory while it waits */
  enter(accountId: number, url: string, bytes = 0): Promise<Entry> {
    const key = endpointKey(accountId, url);
    const pass = this.#pass(key);
    if (pass.kind === 'refused') return Promise.resolve(pass);
    const endpoint = this.#endpoints.get(key) ?? this.#open(key, accountId);
    return new Promise((resolve) => {
      endpoint.line.push({ bytes, at: this.#now(), pass, resolve });
      this.#mayBeReady(endpoint);
      this.#admit();
    });
  }

  /** In all lines together, those that are being refused too. */
  get waiting(): number {
    return this.#lines.all.places;
  }

  get waitingBytes(): number {
    return this.#lines.all.bytes;
  }

  /**
   * Of those, who is not kept waiting by this process: all in a line whose first has waited for so long, for an endpoint
   * that has ended no attempt meanwhile, but by failures; and who is being refused.
   */
  standing(forMs: number): { readonly waiting: number; readonly waitingBytes: number } {
    const since = this.#now() - forMs;
    let { places: waiting, bytes: waitingBytes } = this.#refusals.left;
    for (const endpoint of this.#endpoints.values()) {
      if (!stands(endpoint, since)) continue;
      waiting += endpoint.line.length;
      waitingBytes += endpoint.line.bytes;
    }
    return { waiting, waitingBytes };
  }

  get state(): GateState {
    const { waiting, waitingBytes } = this;
    return { active: this.#active, waiting, waitingBytes, breakersOpen: this.#parts.breakers?.open ?? 0 };
  }

  /** Refuses whoever waits, and whoever comes. */
  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints.values()) this.#refuseLine(endpoint, CLOSED);
    this.#refusals.end();
  }

  /** The breaker is asked last: whom it lets pass may be its probe, and has to enter. */
  #pass(key: EndpointKey): Pass | Refused {
    if (this.#closed) return CLOSED;
    const line = this.#endpoints.get(key)?.line;
    if (line?.isFull(this.#endpoints.size)) {
      return { kind: 'refused', why: 'line-full', forMs: this.#now() - (line.first?.at ?? 0) };
    }
    return this.#ask(key);
  }

  #ask(key: EndpointKey): Pass | Refused {
    const permission = this.#parts.breakers?.ask(key) ?? PASS;
    return permission.kind === 'pass' ? permission : { kind: 'refused', why: 'open', forMs: permission.forMs };
  }

  #now(): number {
    return this.#parts.now?.() ?? 0;
  }

  #open(key: EndpointKey, accountId: number): Endpoint {
    const account = this.#accounts.get(accountId) ?? { id: accountId, active: 0, endpoints: 0 };
    account.endpoints += 1;
    this.#accounts.set(accountId, account);
    const endpoint = { key, account, active: 0, standsSince: null, line: new Line<Visitor>(this.#lines) };
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  #mayBeReady(endpoint: Endpoint): void {
    if (endpoint.line.length > 0 && endpoint.active < this.#parts.perEndpoint) this.#ready.add(endpoint);
  }

  /** Starts whose turn it is; those of an account that has its part are passed over and keep their turn. */
  #admit(): void {
    for (const next of this.#ready) {
      if (this.#active >= this.#parts.total) return;
      if (!this.#mayTakeMore(next.account)) continue;
      this.#ready.delete(next);
      this.#start(next);
      // To the end of the turns: a Set that is iterated gives what is added to it, too.
      this.#mayBeReady(next);
    }
  }

  /**
   * Those who are here share one half, and the last quarter is for who has hardly a place: accounts whose URLs are all
   * slow, or one provider's bad day, leave places to whoever comes.
   */
  #mayTakeMore({ active }: Account): boolean {
    const { total, perAccount } = this.#parts;
    if (perAccount === undefined || active < LEAST_PART) return true;
    const part = Math.min(perAccount, Math.floor(total / (2 * this.#accounts.size)));
    return active < part && this.#active < OPEN_TO_ALL * total;
  }

  #start(endpoint: Endpoint): void {
    const visitor = endpoint.line.shift();
    if (!visitor) return;
    endpoint.standsSince ??= this.#now();
    endpoint.active += 1;
    endpoint.account.active += 1;
    this.#active += 1;
    let inside = true;
    const leave = (signal: EndpointSignal = 'unknown') => {
      if (!inside) return null;
      inside = false;
      return this.#leave(endpoint, visitor.pass, signal);
    };
    visitor.resolve({ kind: 'entered', leave });
  }

  #leave(endpoint: Endpoint, { probe }: Pass, signal: EndpointSignal): BreakerChange {
    endpoint.active -= 1;
    endpoint.account.active -= 1;
    this.#active -= 1;
    if (signal !== 'failed') endpoint.standsSince = endpoint.active > 0 ? this.#now() : null;
    const change = this.#parts.breakers?.ended(endpoint.key, probe, signal) ?? null;
    if (change === 'opened') this.#refuse(endpoint);
    if (endpoint.active === 0 && endpoint.line.length === 0) this.#forget(endpoint);
    this.#mayBeReady(endpoint);
    this.#admit();
    return change;
  }

  /** The breaker has opened: those who wait go elsewhere, and the line is free. */
  #refuse(endpoint: Endpoint): void {
    const refusal = this.#ask(endpoint.key);
    if (refusal.kind === 'refused') this.#refuseLine(endpoint, refusal);
  }

  #refuseLine(endpoint: Endpoint, refusal: Refused): void {
    this.#ready.delete(endpoint);
    this.#refusals.refuse(endpoint.line.takeAll(), refusal);
  }

  #forget(endpoint: Endpoint): void {
    const { key, account } = endpoint;
    this.#endpoints.delete(key);
    account.endpoints -= 1;
    if (account.endpoints === 0) this.#accounts.delete(account.id);
  }
}

function stands({ active, standsSince, line }: Endpoint, since: number): boolean {
  return active > 0 && (standsSince ?? since) <= since && (line.first?.at ?? since) <= since;
}

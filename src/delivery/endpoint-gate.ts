/**
 * The gate before the endpoints: each endpoint (account and URL) has a small concurrency of its own and a bounded line
 * of those that wait; an account has a part of the whole, however many URLs it has; over all of them there is one limit,
 * shared in turn. A slow URL fills its own line and no other. Where all lines together are long, each may only be as long
 * as its fair share, so that those who wait for slow URLs never keep the dispatcher from taking records for others.
 */
export type Entry =
  | { readonly kind: 'entered'; readonly leave: () => void }
  /** The line is full, or the gate is closed: go elsewhere, at once. */
  | { readonly kind: 'refused' };

/** Takes a burst of 1,000 events at once with room to spare. */
const LINE_LENGTH = 2_000;
/** Of all lines; from there on fair shares count. Well below what the dispatcher has in flight. */
const LINES_LENGTH = 7_500;
const REFUSED: Entry = { kind: 'refused' };

interface Endpoint {
  readonly key: string;
  readonly account: Account;
  active: number;
  readonly line: ((entry: Entry) => void)[];
}

interface Account {
  readonly id: number;
  active: number;
  endpoints: number;
}

export interface GateLimits {
  readonly total: number;
  readonly perEndpoint: number;
  /** As many as all without it. */
  readonly perAccount?: number;
}

export class EndpointGate {
  readonly #limits: GateLimits;
  readonly #accounts = new Map<number, Account>();
  readonly #endpoints = new Map<string, Endpoint>();
  /** Endpoints that have someone waiting and may start another, in the order of their turns. */
  readonly #ready = new Set<Endpoint>();
  #active = 0;
  #waiting = 0;
  #closed = false;

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  enter(accountId: number, url: string): Promise<Entry> {
    const key = `${accountId} ${url}`;
    const waiting = this.#endpoints.get(key)?.line.length ?? 0;
    if (this.#closed || waiting >= this.#longestLine()) return Promise.resolve(REFUSED);
    const endpoint = this.#endpoints.get(key) ?? this.#open(key, accountId);
    return new Promise((resolve) => {
      endpoint.line.push(resolve);
      this.#waiting += 1;
      this.#mayBeReady(endpoint);
      this.#admit();
    });
  }

  /** Refuses whoever waits, and whoever comes. */
  close(): void {
    this.#closed = true;
    this.#ready.clear();
    this.#waiting = 0;
    for (const endpoint of this.#endpoints.values()) for (const resolve of endpoint.line.splice(0)) resolve(REFUSED);
  }

  #longestLine(): number {
    if (this.#waiting < LINES_LENGTH) return LINE_LENGTH;
    return Math.min(LINE_LENGTH, Math.ceil(LINES_LENGTH / this.#endpoints.size));
  }

  #open(key: string, accountId: number): Endpoint {
    const account = this.#accounts.get(accountId) ?? { id: accountId, active: 0, endpoints: 0 };
    account.endpoints += 1;
    this.#accounts.set(accountId, account);
    const endpoint = { key, account, active: 0, line: [] };
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  #mayBeReady(endpoint: Endpoint): void {
    if (endpoint.line.length > 0 && endpoint.active < this.#limits.perEndpoint) this.#ready.add(endpoint);
  }

  /** Starts whose turn it is; those of an account that has its part are passed over and keep their turn. */
  #admit(): void {
    for (const next of this.#ready) {
      if (this.#active >= this.#limits.total) return;
      if (next.account.active >= (this.#limits.perAccount ?? this.#limits.total)) continue;
      this.#ready.delete(next);
      this.#start(next);
      // To the end of the turns: a Set that is iterated gives what is added to it, too.
      this.#mayBeReady(next);
    }
  }

  #start(endpoint: Endpoint): void {
    const resolve = endpoint.line.shift();
    endpoint.active += 1;
    endpoint.account.active += 1;
    this.#active += 1;
    this.#waiting -= 1;
    resolve?.({ kind: 'entered', leave: once(() => this.#leave(endpoint)) });
  }

  #leave(endpoint: Endpoint): void {
    endpoint.active -= 1;
    endpoint.account.active -= 1;
    this.#active -= 1;
    if (endpoint.active === 0 && endpoint.line.length === 0) this.#forget(endpoint);
    this.#mayBeReady(endpoint);
    this.#admit();
  }

  #forget({ key, account }: Endpoint): void {
    this.#endpoints.delete(key);
    account.endpoints -= 1;
    if (account.endpoints === 0) this.#accounts.delete(account.id);
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

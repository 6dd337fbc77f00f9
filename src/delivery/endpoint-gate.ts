/**
 * The gate before the endpoints: each endpoint (account and URL) has a small concurrency of its own and a bounded line
 * of those that wait; over all of them there is one limit, shared in turn. A slow URL fills its own line and no other.
 */
export type Entry =
  | { readonly kind: 'entered'; readonly leave: () => void }
  /** The line is full, or the gate is closed: go elsewhere, at once. */
  | { readonly kind: 'refused' };

/** Takes a burst of 1,000 events at once with room to spare. */
const LINE_LENGTH = 2_000;
const REFUSED: Entry = { kind: 'refused' };

interface Endpoint {
  readonly key: string;
  active: number;
  readonly line: ((entry: Entry) => void)[];
}

export class EndpointGate {
  readonly #limits: { readonly total: number; readonly perEndpoint: number };
  readonly #endpoints = new Map<string, Endpoint>();
  /** Endpoints that have someone waiting and may start another, in the order of their turns. */
  readonly #ready = new Set<Endpoint>();
  #active = 0;
  #closed = false;

  constructor(limits: { total: number; perEndpoint: number }) {
    this.#limits = limits;
  }

  enter(key: string): Promise<Entry> {
    const endpoint = this.#endpoints.get(key) ?? { key, active: 0, line: [] };
    if (this.#closed || endpoint.line.length >= LINE_LENGTH) return Promise.resolve(REFUSED);
    this.#endpoints.set(key, endpoint);
    return new Promise((resolve) => {
      endpoint.line.push(resolve);
      this.#admit(endpoint);
    });
  }

  /** Refuses whoever waits, and whoever comes. */
  close(): void {
    this.#closed = true;
    this.#ready.clear();
    for (const endpoint of this.#endpoints.values()) for (const resolve of endpoint.line.splice(0)) resolve(REFUSED);
  }

  #admit(endpoint: Endpoint): void {
    if (endpoint.line.length > 0 && endpoint.active < this.#limits.perEndpoint) this.#ready.add(endpoint);
    while (this.#active < this.#limits.total) {
      const [next] = this.#ready;
      if (!next) return;
      this.#ready.delete(next);
      this.#start(next);
      if (next.line.length > 0 && next.active < this.#limits.perEndpoint) this.#ready.add(next);
    }
  }

  #start(endpoint: Endpoint): void {
    const resolve = endpoint.line.shift();
    endpoint.active += 1;
    this.#active += 1;
    resolve?.({ kind: 'entered', leave: once(() => this.#leave(endpoint)) });
  }

  #leave(endpoint: Endpoint): void {
    endpoint.active -= 1;
    this.#active -= 1;
    if (endpoint.active === 0 && endpoint.line.length === 0) this.#endpoints.delete(endpoint.key);
    this.#admit(endpoint);
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

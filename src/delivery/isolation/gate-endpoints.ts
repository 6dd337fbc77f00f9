/** The endpoints in the gate, by account: those with a line or an attempt in progress. The pace of idle ones is remembered. */
import type { CircuitBreakers } from './circuit-breaker.js';
import { EndpointBreakers } from './endpoint-breakers.js';
import { type EndpointKey, endpointKey } from './endpoint-key.js';
import { EndpointPace } from './endpoint-pace.js';
import { Account, Endpoint } from './gate-endpoint.js';
import { RememberedPaces } from './remembered-paces.js';

export interface GateEndpointsParts {
  /** The largest window. */
  readonly perEndpoint: number;
  /** Null: none ever opens. */
  readonly breakers: CircuitBreakers | null;
}

export class GateEndpoints {
  readonly #parts: GateEndpointsParts;
  readonly #accounts = new Map<number, Account>();
  readonly #endpoints = new Map<EndpointKey, Endpoint>();
  readonly #idle = new RememberedPaces();

  constructor(parts: GateEndpointsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#endpoints.size;
  }

  get accounts(): number {
    return this.#accounts.size;
  }

  all(): Iterable<Endpoint> {
    return this.#endpoints.values();
  }

  /** Call `mayForget` afterwards where no delivery entered. */
  of(accountId: number, url: string): Endpoint {
    const key = endpointKey(accountId, url);
    const known = this.#endpoints.get(key);
    if (known) return known;
    const account = this.#accounts.get(accountId) ?? new Account(accountId);
    const pace = this.#idle.take(key) ?? new EndpointPace(this.#parts.perEndpoint);
    const endpoint = new Endpoint(key, account, pace, new EndpointBreakers(this.#parts.breakers, key));
    account.endpoints.add(endpoint);
    this.#accounts.set(accountId, account);
    this.#endpoints.set(key, endpoint);
    return endpoint;
  }

  /** Nothing changes where the endpoint has a line or an attempt in progress. */
  mayForget({ key, account, pace, underWay, line }: Endpoint): void {
    const endpoint = this.#endpoints.get(key);
    if (underWay > 0 || line.length > 0 || !endpoint) return;
    this.#endpoints.delete(key);
    this.#idle.keep(key, pace);
    account.endpoints.delete(endpoint);
    if (account.endpoints.size === 0) this.#accounts.delete(account.id);
  }
}

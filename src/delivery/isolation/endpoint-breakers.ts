/** The two breakers of an endpoint: of its URL, and, for failures to connect, of its account's host and port. */
import type { BreakerChange, BreakerSignal, CircuitBreakers, Probe } from './circuit-breaker.js';
import { type EndpointKey, hostKey } from './endpoint-key.js';

/**
 * What an attempt says of its endpoint. unreachable: no connection was made. unknown: nothing.
 */
export type EndpointSignal = 'succeeded' | 'failed' | 'unreachable' | 'unknown';

/** The probes that who passed is. */
export interface Passed {
  readonly url: Probe | null;
  readonly host: Probe | null;
}

const NO_PROBE: Passed = { url: null, host: null };

const OF_URL = { succeeded: 'succeeded', failed: 'failed', unreachable: 'failed', unknown: 'unknown' } as const;
/** Of the host: any answer is one. */
const OF_HOST = { succeeded: 'succeeded', failed: 'succeeded', unreachable: 'failed', unknown: 'unknown' } as const;

export class EndpointBreakers {
  readonly #breakers: CircuitBreakers | null;
  readonly #url: EndpointKey;
  readonly #host: EndpointKey;

  /** @param breakers null: none ever opens */
  constructor(breakers: CircuitBreakers | null, url: EndpointKey) {
    this.#breakers = breakers;
    this.#url = url;
    this.#host = hostKey(url);
  }

  get isOpen(): boolean {
    return this.#breakers !== null && (this.#breakers.isOpen(this.#url) || this.#breakers.isOpen(this.#host));
  }

  /** Null: refused. Who passes says `ended` afterwards. */
  ask(): Passed | null {
    if (!this.#breakers) return NO_PROBE;
    const url = this.#breakers.ask(this.#url);
    if (url.kind === 'open') return null;
    const host = this.#breakers.ask(this.#host);
    if (host.kind === 'pass') return { url: url.probe, host: host.probe };
    this.#breakers.ended(this.#url, url.probe, 'unknown');
    return null;
  }

  ended({ url, host }: Passed, signal: EndpointSignal): BreakerChange {
    const ofUrl = this.#tell(this.#url, url, OF_URL[signal]);
    const ofHost = this.#tell(this.#host, host, OF_HOST[signal]);
    return ofUrl === 'opened' || ofHost === 'opened' ? 'opened' : (ofUrl ?? ofHost);
  }

  #tell(key: EndpointKey, probe: Probe | null, signal: BreakerSignal): BreakerChange {
    return this.#breakers?.ended(key, probe, signal) ?? null;
  }
}

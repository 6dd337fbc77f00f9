/** The two breakers of an endpoint: of its URL, and, for failures to connect, of its account's host and port. */
import {
  type BreakerChange,
  type BreakerSignal,
  type CircuitBreakers,
  type EndpointKey,
  hostKey,
  type Probe,
} from './circuit-breaker.js';

/**
 * What an attempt shows about its endpoint. unreachable: no connection was made. tls-failed: the TLS handshake failed.
 * unknown: nothing.
 */
export type EndpointSignal = 'succeeded' | 'failed' | 'unreachable' | 'tls-failed' | 'unknown';

/** The breakers for which this delivery is the probe. */
export interface Passed {
  readonly url: Probe | null;
  readonly host: Probe | null;
}

/** Of an attempt that asked no breaker. */
export const NO_PROBE: Passed = { url: null, host: null };

type Signals = Readonly<Record<EndpointSignal, BreakerSignal>>;

const OF_URL: Signals = {
  succeeded: 'succeeded',
  failed: 'failed',
  unreachable: 'failed',
  'tls-failed': 'failed',
  unknown: 'unknown',
};
const OF_HOST: Signals = {
  succeeded: 'succeeded',
  failed: 'answered',
  unreachable: 'failed',
  'tls-failed': 'tls-failed',
  unknown: 'unknown',
};

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

  /** For how long deliveries are refused, ms; 0: they are not. */
  get openForMs(): number {
    if (!this.#breakers) return 0;
    return Math.max(this.#breakers.openForMs(this.#url), this.#breakers.openForMs(this.#host));
  }

  /** Null if refused; otherwise call `ended` with the result. */
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

/**
 * The circuit breakers of URLs and hosts. Only failing ones are kept, the most recently used.
 *
 *   closed -> open        (10 failures in a row, 30 s of nothing but failures, or 2 TLS failures without a 2xx between)
 *   open -> half-open     (its pause is over: the next that asks is the probe, and nobody else passes)
 *   half-open -> closed   (the probe succeeded)
 *             -> open     (it failed)
 *             -> open     (its result is inconclusive: the next that asks is the probe)
 *
 * It is open for a tenth of the time for which the endpoint was away, 5 s at least and 60 s at most. Attempts that began before
 * it opened may end while it is open: a success closes it, a failure changes nothing.
 */
import { LRUCache } from 'lru-cache';

/** An endpoint is an account's URL: accounts share no queue, no breaker and no verdict, even where they share a URL. */
export type EndpointKey = string & { readonly [brand]: true };

declare const brand: unique symbol;

/** @param url as it is sent to, normalised */
export function endpointKey(accountId: number, url: string): EndpointKey {
  return `${accountId} ${url}` as EndpointKey;
}

/** Of all of the account's endpoints on that host and port. */
export function hostKey(key: EndpointKey): EndpointKey {
  const end = key.indexOf('/', key.indexOf('//') + 2);
  return (end === -1 ? key : key.slice(0, end)) as EndpointKey;
}

/**
 * The result of an attempt. answered: no 2xx, but none is asked for (a host's). tls-failed: a failed handshake, which may
 * have cost this process 100 ms (a long chain of certificates). unknown: nothing is known of the endpoint.
 */
export type BreakerSignal = 'succeeded' | 'answered' | 'failed' | 'tls-failed' | 'unknown';

export type Permission = { readonly kind: 'pass'; readonly probe: Probe | null } | { readonly kind: 'open' };

/** What changed for queued deliveries; null: nothing. */
export type BreakerChange = 'opened' | 'closed' | null;

/** `failures` in a row, the first of them `since`, and `tlsFailures` since the last 2xx. Times are as `now` counts. */
type Failing = {
  readonly kind: 'closed';
  readonly failures: number;
  readonly tlsFailures: number;
  readonly since: number;
};
type Open = { readonly kind: 'open'; readonly until: number };

/** A half-open breaker. Compared by identity, so that a late probe of an earlier opening is recognized. */
export interface Probe {
  readonly kind: 'half-open';
}

type State = Failing | Open | Probe;

const FAILURES_IN_A_ROW = 10;
const TLS_FAILURES = 2;
/** A hanging URL fails only four times a minute, so a duration also opens the breaker: 30 s, two failures. */
const FAILING_FOR_MS = 30_000;
/** A guess: how long a probe that is out takes yet. */
const PROBE_MS = 1_000;
const OF_TIME_AWAY = 1 / 10;
const SHORTEST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** Endpoints that failed together are not probed together. */
const JITTER = 0.1;
const REMEMBERED = 10_000;
const PASS: Permission = { kind: 'pass', probe: null };
/** The next that asks is the probe. */
const DUE: Open = { kind: 'open', until: Number.NEGATIVE_INFINITY };

export class CircuitBreakers {
  readonly #parts: { readonly now: () => number; readonly random: () => number };
  /** Absent ones are closed, without failures. */
  readonly #states = new LRUCache<EndpointKey, State>({ max: REMEMBERED });

  /** @param parts `now` in ms that never go back */
  constructor(parts: { readonly now: () => number; readonly random: () => number }) {
    this.#parts = parts;
  }

  /** Whether an attempt may begin. On `pass`, call `ended` afterwards with the probe. */
  ask(key: EndpointKey): Permission {
    const state = this.#states.get(key);
    if (state === undefined || state.kind === 'closed') return PASS;
    if (this.openForMs(key) > 0) return { kind: 'open' };
    const probe: Probe = { kind: 'half-open' };
    this.#states.set(key, probe);
    return { kind: 'pass', probe };
  }

  /** For how long nobody passes, ms; 0: the next that asks passes. */
  openForMs(key: EndpointKey): number {
    const state = this.#states.get(key);
    if (state?.kind === 'half-open') return PROBE_MS;
    return state?.kind === 'open' ? Math.max(0, state.until - this.#parts.now()) : 0;
  }

  /** @param awayMs for how long the endpoint took nothing */
  ended(key: EndpointKey, probe: Probe | null, signal: BreakerSignal, awayMs = 0): BreakerChange {
    const state = this.#states.get(key);
    if (signal === 'succeeded' || signal === 'answered') return this.#accepted(key, state, signal);
    if (state && state === probe) this.#states.set(key, signal === 'unknown' ? DUE : this.#openAfter(awayMs));
    if (signal === 'unknown' || (state && state.kind !== 'closed')) return null;
    const failing = this.#counted(state, signal);
    this.#states.set(key, failing ?? this.#openAfter(awayMs));
    return failing ? null : 'opened';
  }

  get size(): number {
    return this.#states.size;
  }

  /** Open and half-open ones, including those due for a probe that no delivery asked for since. */
  get open(): number {
    let open = 0;
    for (const { kind } of this.#states.values()) if (kind !== 'closed') open += 1;
    return open;
  }

  #accepted(key: EndpointKey, state: State | undefined, signal: 'succeeded' | 'answered'): BreakerChange {
    // TLS failures still count where it only answers: one URL of a host may answer, and another fail.
    const stillCounts = signal === 'answered' && state?.kind === 'closed' && state.tlsFailures > 0;
    if (stillCounts) this.#states.set(key, { ...state, failures: 0 });
    else this.#states.delete(key);
    return state && state.kind !== 'closed' ? 'closed' : null;
  }

  /** Null: it opens. */
  #counted(before: Failing | undefined, signal: 'failed' | 'tls-failed'): Failing | null {
    const now = this.#parts.now();
    const failures = 1 + (before?.failures ?? 0);
    const tlsFailures = (before?.tlsFailures ?? 0) + (signal === 'tls-failed' ? 1 : 0);
    const since = before && failures > 1 ? before.since : now;
    const opens = failures >= FAILURES_IN_A_ROW || tlsFailures >= TLS_FAILURES || now - since >= FAILING_FOR_MS;
    return opens ? null : { kind: 'closed', failures, tlsFailures, since };
  }

  #openAfter(awayMs: number): Open {
    const { now, random } = this.#parts;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, OF_TIME_AWAY * awayMs));
    return { kind: 'open', until: now() + pauseMs * (1 + JITTER * random()) };
  }
}

/**
 * What an attempt shows about its endpoint. refused: 429, or 503 with Retry-After. unreachable: no connection was made.
 * tls-failed: the TLS handshake failed. unknown: nothing.
 */
export type EndpointSignal = 'succeeded' | 'refused' | 'failed' | 'unreachable' | 'tls-failed' | 'unknown';

/** The breakers for which this delivery is the probe. */
export interface Passed {
  readonly url: Probe | null;
  readonly host: Probe | null;
}

export const NO_PROBE: Passed = { url: null, host: null };

const OF_BOTH = { succeeded: 'succeeded', refused: 'answered', unreachable: 'failed', unknown: 'unknown' } as const;
const OF_URL = { ...OF_BOTH, failed: 'failed', 'tls-failed': 'failed' } as const;
const OF_HOST = { ...OF_BOTH, failed: 'answered', 'tls-failed': 'tls-failed' } as const;

export type Breakers = Pick<CircuitBreakers, 'ask' | 'ended' | 'openForMs' | 'open'>;

/** The two breakers of an endpoint: of its URL, and, for failures to connect, of its account's host and port. */
export class EndpointBreakers {
  readonly #breakers: Breakers;
  readonly #url: EndpointKey;
  readonly #host: EndpointKey;

  constructor(breakers: Breakers, url: EndpointKey) {
    this.#breakers = breakers;
    this.#url = url;
    this.#host = hostKey(url);
  }

  /** For how long deliveries are refused, ms; 0: they are not. */
  get openForMs(): number {
    return Math.max(this.#breakers.openForMs(this.#url), this.#breakers.openForMs(this.#host));
  }

  /** Null if refused; otherwise call `ended` with the result. */
  ask(): Passed | null {
    const url = this.#breakers.ask(this.#url);
    if (url.kind === 'open') return null;
    const host = this.#breakers.ask(this.#host);
    if (host.kind === 'pass') return url.probe || host.probe ? { url: url.probe, host: host.probe } : NO_PROBE;
    this.#breakers.ended(this.#url, url.probe, 'unknown');
    return null;
  }

  ended({ url, host }: Passed, signal: EndpointSignal, awayMs = 0): BreakerChange {
    const ofUrl = this.#breakers.ended(this.#url, url, OF_URL[signal], awayMs);
    const ofHost = this.#breakers.ended(this.#host, host, OF_HOST[signal], awayMs);
    return ofUrl === 'opened' || ofHost === 'opened' ? 'opened' : (ofUrl ?? ofHost);
  }
}

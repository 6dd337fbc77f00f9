/**
 * The circuit breakers of URLs and hosts. Only failing ones are kept, the most recently used.
 *
 *   closed -> open      (10 failures in a row, 30 s of nothing but failures, or 2 TLS failures without a 2xx between)
 *   open -> probing     (its pause is over: the next that asks is the probe, and nobody else passes)
 *   open, probing -> closed   (a success, also of an attempt that began before it opened)
 *   probing -> open     (a failure; a result that shows nothing: the next that asks is the probe)
 *
 * It is open for a tenth of the time for which the endpoint was away, 5 s at least and 60 s at most.
 */
import { LRUCache } from 'lru-cache';
import { type EndpointKey, hostKey } from '../endpoint-key.js';

/**
 * What an attempt shows about its endpoint. refused: 429, or 503 with Retry-After. unreachable: no connection was made.
 * tls-failed: the TLS handshake failed, which may have cost this process 100 ms (a long chain of certificates). unknown: nothing.
 */
export type EndpointSignal = 'succeeded' | 'refused' | 'failed' | 'unreachable' | 'tls-failed' | 'unknown';

/** What it is for a breaker. answered: no 2xx, but none is asked for. */
const OF_BOTH = { succeeded: 'succeeded', refused: 'answered', unreachable: 'failed', unknown: 'unknown' } as const;
const OF_URL = { ...OF_BOTH, failed: 'failed', 'tls-failed': 'failed' } as const;
const OF_HOST = { ...OF_BOTH, failed: 'answered', 'tls-failed': 'tls-failed' } as const;

type BreakerSignal = (typeof OF_URL | typeof OF_HOST)[EndpointSignal];

/** What changed for queued deliveries; null: nothing. */
export type BreakerChange = 'opened' | 'closed' | null;

/** Times are as `now` counts. */
interface State {
  /** In a row, the first of them `since`; TLS failures since the last 2xx. */
  readonly failures: number;
  readonly tlsFailures: number;
  readonly since: number;
  /** Null: closed. */
  readonly openUntil: number | null;
  readonly isProbing: boolean;
}

const FAILURES_IN_A_ROW = 10;
const TLS_FAILURES = 2;
/** A hanging URL fails only four times a minute, so a duration also opens the breaker: 30 s, two failures. */
const FAILING_FOR_MS = 30_000;
const OF_TIME_AWAY = 1 / 10;
const SHORTEST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** Endpoints that failed together are not probed together. */
const JITTER = 0.1;
const REMEMBERED = 10_000;

interface BreakersParts {
  /** ms that never go back */
  readonly now: () => number;
  readonly random: () => number;
  /** Failing URLs and hosts. Default: 10,000. */
  readonly remembers?: number;
}

const UNTRIED: State = { failures: 0, tlsFailures: 0, since: 0, openUntil: null, isProbing: false };

/** Two for each endpoint: of its URL, and, for failures to connect, of its account's host and port. */
export class CircuitBreakers {
  readonly #parts: BreakersParts;
  /** Absent ones are closed, without failures. */
  readonly #states: LRUCache<EndpointKey, State>;

  constructor(parts: BreakersParts) {
    this.#parts = parts;
    this.#states = new LRUCache({ maxSize: parts.remembers ?? REMEMBERED, sizeCalculation: () => 1 });
  }

  /** For how long deliveries are refused, ms; 0: the next that asks passes. */
  openForMs(key: EndpointKey): number {
    if (this.#states.size === 0) return 0;
    const until = (one: EndpointKey) => this.#states.get(one)?.openUntil ?? 0;
    return Math.max(0, Math.max(until(key), until(hostKey(key))) - this.#parts.now());
  }

  /** Whether an attempt may begin: then call `ended` with its result. */
  ask(key: EndpointKey): boolean {
    if (this.openForMs(key) > 0) return false;
    for (const each of [key, hostKey(key)]) this.#probes(each);
    return true;
  }

  /** @param awayMs for how long the endpoint took nothing */
  ended(key: EndpointKey, signal: EndpointSignal, awayMs = 0): BreakerChange {
    const ofUrl = this.#ended(key, OF_URL[signal], awayMs);
    const ofHost = this.#ended(hostKey(key), OF_HOST[signal], awayMs);
    return ofUrl === 'opened' || ofHost === 'opened' ? 'opened' : (ofUrl ?? ofHost);
  }

  /** Those that are open or probing, including those due for a probe that no delivery asked for since. */
  get open(): number {
    let open = 0;
    for (const { openUntil } of this.#states.values()) if (openUntil !== null) open += 1;
    return open;
  }

  /** The attempt that begins is the probe, if the breaker is open. */
  #probes(key: EndpointKey): void {
    const state = this.#states.get(key);
    const until = this.#parts.now() + LONGEST_PAUSE_MS;
    if (state && state.openUntil !== null) this.#states.set(key, { ...state, openUntil: until, isProbing: true });
  }

  #ended(key: EndpointKey, signal: BreakerSignal, awayMs: number): BreakerChange {
    const before = this.#states.get(key) ?? UNTRIED;
    const isOpen = before.openUntil !== null;
    if (signal === 'unknown') {
      if (before.isProbing) this.#states.set(key, { ...before, openUntil: this.#parts.now(), isProbing: false });
      return null;
    }
    if (signal === 'succeeded' || signal === 'answered') {
      // TLS failures still count where it only answers: one URL of a host may answer, and another fail.
      const stillCounts = signal === 'answered' && !isOpen && before.tlsFailures > 0;
      if (stillCounts) this.#states.set(key, { ...before, failures: 0 });
      else this.#states.delete(key);
      return isOpen ? 'closed' : null;
    }
    const after = isOpen && !before.isProbing ? before : this.#afterFailure(before, signal, awayMs);
    this.#states.set(key, after);
    return !isOpen && after.openUntil !== null ? 'opened' : null;
  }

  #afterFailure(before: State, signal: 'failed' | 'tls-failed', awayMs: number): State {
    const now = this.#parts.now();
    const failures = before.failures + 1;
    const tlsFailures = before.tlsFailures + (signal === 'tls-failed' ? 1 : 0);
    const since = failures > 1 ? before.since : now;
    const opens = failures >= FAILURES_IN_A_ROW || tlsFailures >= TLS_FAILURES || now - since >= FAILING_FOR_MS;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, OF_TIME_AWAY * awayMs));
    const openUntil = opens ? now + pauseMs * (1 + JITTER * this.#parts.random()) : null;
    return { failures, tlsFailures, since, openUntil, isProbing: false };
  }
}

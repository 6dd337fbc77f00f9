/**
 * The circuit breakers of endpoints. Only those that fail are remembered, and of these the ones last asked for.
 *
 *   closed -> open        (10 failures in a row)
 *   open -> half-open     (its pause is over: whoever asks next is the probe, and nobody else passes)
 *   half-open -> closed   (the probe succeeded)
 *             -> open     (it failed: for twice as long, 60 s at most)
 *             -> open     (it says nothing of the endpoint: whoever asks next is the probe)
 *
 * Attempts begun before it opened end while it is open: a success closes it, a failure changes nothing.
 */
import { LRUCache } from 'lru-cache';
import type { EndpointKey } from './endpoint-key.js';

/** Of an attempt, as far as its endpoint goes; unknown: it says nothing of it. */
export type EndpointSignal = 'succeeded' | 'failed' | 'unknown';

export type Permission =
  | { readonly kind: 'pass'; readonly probe: Probe | null }
  /** forMs: what is left of the pause; while a probe is out, the pause that its failure would bring. */
  | { readonly kind: 'open'; readonly forMs: number };

/** What follows for those who wait: null where nothing changed for them. */
export type BreakerChange = 'opened' | 'closed' | null;

interface Failing {
  readonly kind: 'closed';
  readonly failures: number;
}

interface Open {
  readonly kind: 'open';
  /** As `now` counts. */
  readonly until: number;
  readonly pauseMs: number;
}

/** Of a breaker that is half open; which one it is says to which of its openings the probe belongs. */
interface Probe {
  readonly kind: 'half-open';
  readonly pauseMs: number;
}

type State = Failing | Open | Probe;

const FAILURES_IN_A_ROW = 10;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** So that endpoints that failed together are not tried together. */
const JITTER = 0.1;
const REMEMBERED = 10_000;

export interface BreakerParts {
  /** ms that never go back. */
  readonly now: () => number;
  readonly random: () => number;
}

export class CircuitBreakers {
  readonly #parts: BreakerParts;
  /** Those that are not here are closed, without a failure. */
  readonly #states = new LRUCache<EndpointKey, State>({ max: REMEMBERED });

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  /** Whether an attempt may be made; who passes says `ended` afterwards, with the probe it was given. */
  ask(key: EndpointKey): Permission {
    const state = this.#states.get(key);
    switch (state?.kind) {
      case undefined:
      case 'closed':
        return { kind: 'pass', probe: null };
      case 'half-open':
        return { kind: 'open', forMs: longer(state.pauseMs) };
      case 'open': {
        const forMs = state.until - this.#parts.now();
        if (forMs > 0) return { kind: 'open', forMs };
        const probe: Probe = { kind: 'half-open', pauseMs: state.pauseMs };
        this.#states.set(key, probe);
        return { kind: 'pass', probe };
      }
      default:
        return state satisfies never;
    }
  }

  ended(key: EndpointKey, probe: Probe | null, signal: EndpointSignal): BreakerChange {
    const state = this.#states.get(key);
    if (signal === 'succeeded') return this.#close(key, state);
    if (state?.kind === 'half-open') {
      if (state === probe) this.#openAgain(key, probe, signal);
      return null;
    }
    if (state?.kind === 'open' || signal === 'unknown') return null;
    return this.#count(key, 1 + (state?.failures ?? 0));
  }

  /** How many endpoints are remembered. */
  get size(): number {
    return this.#states.size;
  }

  /** How many of them are not closed: those whose pause is over and that nobody asked for since, too. */
  get open(): number {
    let open = 0;
    for (const { kind } of this.#states.values()) if (kind !== 'closed') open += 1;
    return open;
  }

  #close(key: EndpointKey, state: State | undefined): BreakerChange {
    this.#states.delete(key);
    return state && state.kind !== 'closed' ? 'closed' : null;
  }

  #count(key: EndpointKey, failures: number): BreakerChange {
    if (failures < FAILURES_IN_A_ROW) {
      this.#states.set(key, { kind: 'closed', failures });
      return null;
    }
    this.#states.set(key, this.#openFor(FIRST_PAUSE_MS));
    return 'opened';
  }

  #openAgain(key: EndpointKey, { pauseMs }: Probe, signal: 'failed' | 'unknown'): void {
    const open = signal === 'failed' ? this.#openFor(longer(pauseMs)) : over(pauseMs);
    this.#states.set(key, open);
  }

  #openFor(pauseMs: number): Open {
    const { now, random } = this.#parts;
    return { kind: 'open', until: now() + pauseMs * (1 + JITTER * random()), pauseMs };
  }
}

/** An opening whose pause is over. */
function over(pauseMs: number): Open {
  return { kind: 'open', until: Number.NEGATIVE_INFINITY, pauseMs };
}

function longer(pauseMs: number): number {
  return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
}

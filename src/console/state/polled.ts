/** What the page shows of the service: asked for again and again while somebody looks, and kept where that fails. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Failure, type Given, get, isFinal, type Result } from '../api/client.js';
import type { Got, ParamsOf, Path } from '../api/shapes.js';
import { sessionState } from './session.js';

export interface Polled<T> {
  /** The last one that came; null: none yet. */
  readonly data: T | null;
  /** When the service last said so, ms since the epoch. */
  readonly at: number | null;
  /** Of the last call, if it failed: data is as of `at`. */
  readonly failure: Failure | null;
}

/** What each call hands on. */
export type Asking = Pick<Given, 'signal' | 'etag'>;

type Ask<T> = (asking: Asking) => Promise<Result<T>>;

const NOTHING = { data: null, at: null, failure: null };
const SLOWEST_MS = 60_000;
/** Of sources that nobody follows. */
const MOST_KEPT = 60;

class Source<T> {
  readonly state: Signal<Polled<T>> = signal<Polled<T>>(NOTHING);
  #etag: string | null = null;
  #failures = 0;
  #users = 0;
  #timer = 0;
  #stopping = new AbortController();

  /** @returns the end of it */
  follow(ask: Ask<T>, everyMs: number): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#start(ask, everyMs);
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.#stop();
    };
  }

  look: () => void = () => undefined;

  get isFollowed(): boolean {
    return this.#users > 0;
  }

  #start(ask: Ask<T>, everyMs: number): void {
    this.#stopping = new AbortController();
    const { signal: aborted } = this.#stopping;
    let asking = false;
    let isOutrun = false;
    this.look = async () => {
      if (document.visibilityState !== 'visible') return;
      // What is on its way may be from before the change that this look is for.
      if (asking) isOutrun = true;
      if (asking) return;
      clearTimeout(this.#timer);
      asking = true;
      isOutrun = false;
      const result = await ask({ etag: this.#etag, signal: aborted });
      asking = false;
      if (aborted.aborted) return;
      this.#take(result);
      if (result.kind === 'failed' && isFinal(result) && !isOutrun) return;
      this.#timer = window.setTimeout(this.look, isOutrun ? 0 : this.#pause(result, everyMs));
    };
    document.addEventListener('visibilitychange', this.look, { signal: aborted });
    // At once, and where the page goes on in another session.
    aborted.addEventListener(
      'abort',
      sessionState.subscribe(({ kind }) => kind === 'open' && this.look()),
    );
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    this.look = () => undefined;
  }

  #take(result: Result<T>): void {
    const { data, at } = this.state.peek();
    this.#failures = result.kind === 'failed' ? this.#failures + 1 : 0;
    if (result.kind === 'failed') {
      this.state.value = { data, at, failure: result };
      return;
    }
    if (result.kind === 'ok') this.#etag = result.etag;
    this.state.value = { data: result.kind === 'ok' ? result.data : data, at: Date.now(), failure: null };
  }

  #pause(result: Result<T>, everyMs: number): number {
    const backedOff = Math.min(everyMs * 2 ** this.#failures, SLOWEST_MS);
    return result.kind === 'failed' ? Math.max(backedOff, result.retryAfterMs) : everyMs;
  }
}

/** Ordered by their last use. */
const sources = new Map<string, Source<unknown>>();

/** A component follows its source only after it has rendered: until then it is kept as one of those that were read last. */
function sourceOf<T>(key: string): Source<T> {
  const source = sources.get(key) ?? new Source();
  sources.delete(key);
  sources.set(key, source);
  const unused = [...sources].filter(([, { isFollowed }]) => !isFollowed);
  for (const [old] of unused.slice(0, -MOST_KEPT)) sources.delete(old);
  return source as Source<T>;
}

interface Polling {
  readonly everyMs?: number;
  /** With another key: shows the data of the one before until there is some. */
  readonly keepsLast?: boolean;
}

/** What a GET answers. */
export function useGot<P extends Path>(path: P, params: ParamsOf<P>, polling?: Polling) {
  const ask = (asking: Asking) => get(path, { params: params as object, ...asking });
  return usePolled<Got<P>>(`${path} ${JSON.stringify(params)}`, ask, polling);
}

/** @param key names what is asked for: components with one key share its calls */
export function usePolled<T>(key: string, ask: Ask<T>, { everyMs = 5_000, keepsLast = false }: Polling = {}) {
  const source = sourceOf<T>(key);
  const last = useRef<Polled<T>>(NOTHING);
  useEffect(() => source.follow(ask, everyMs), [key, everyMs]);
  const state = source.state.value;
  if (state.data !== null || !keepsLast) last.current = state;
  const shown: Polled<T> = { ...last.current, failure: state.failure };
  return { ...shown, isLast: shown.data !== state.data, look: () => source.look() };
}

/**
 * Runs one projection in this process: subscription -> fold -> states and position in one transaction.
 *
 *   starting -> catching up -> live -> closed
 *       ^            |           |
 *       |            |           +-> lost: the states are damaged, or of another history than the store now has
 *       +- failed <--+-----------+   (store gone, disk full: again from the last commit)
 *
 * Of another history before it is live: forgotten and folded anew. Afterwards that would hand out old states as new
 * ones, and payment events would miss webhooks; so the host is lost, the process ends, and its next start folds anew.
 * States are handed out as they are cached: they are read, never changed, by whoever asks.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../observability/logger.js';
import {
  type EventBatch,
  type EventStore,
  type RecordedEvent,
  StoreRefused,
  UnknownPosition,
} from '../ports/event-store.js';
import { type ProjectionStates, StatesDamaged } from '../ports/projection-states.js';
import type { Projection } from './projection-source.js';

const CACHED_STATES = 20_000;
const PROGRESS_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 500;

export interface Folded<S> {
  readonly state: S;
  /** The revision of the last event of the stream that is in the state. */
  readonly revision: number;
}

export interface ProjectionHostParts {
  readonly projection: Projection;
  readonly store: EventStore;
  readonly states: ProjectionStates;
  readonly logger: Logger;
  /** ms, only for the pace of progress messages. */
  readonly now: () => number;
}

export class ProjectionHost<S> {
  readonly #parts: ProjectionHostParts;
  readonly #cache = new LRUCache<string, Folded<S>>({ max: CACHED_STATES });
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #stopping = new AbortController();
  readonly #caughtUp = withResolvers<void>();
  readonly #lost = withResolvers<never>();
  #running: Promise<void> = Promise.resolve();
  #live = false;
  #hasBeenLive = false;
  #folded = 0;
  #startedAt = 0;
  #toldAt = 0;

  constructor(parts: ProjectionHostParts) {
    this.#parts = parts;
    this.#lost.promise.catch(() => undefined);
  }

  start(): void {
    this.#startedAt = this.#toldAt = this.#parts.now();
    this.#running = this.#run();
  }

  /** Fulfilled once everything that was stored when the host started is folded. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise;
  }

  /** Rejected where it can't go on with the states it has: the process has to end, and folds anew when it starts. */
  get lost(): Promise<never> {
    return this.#lost.promise;
  }

  /** False while it starts, and while it can't follow the store. */
  get isLive(): boolean {
    return this.#live;
  }

  /** The state as folded here; undefined where the stream is not known here (yet). */
  current(stream: string): Folded<S> | undefined {
    const cached = this.#cache.get(stream);
    if (cached) return cached;
    const { states, projection } = this.#parts;
    const stored = this.#undamaged(() => states.load(projection.name, stream));
    if (!stored) return undefined;
    const folded = { state: JSON.parse(stored.json) as S, revision: stored.revision };
    this.#cache.set(stream, folded);
    return folded;
  }

  /** The state as folded here or, where the stream is not known here yet, folded from the store. */
  async find(stream: string): Promise<Folded<S> | undefined> {
    return this.current(stream) ?? (await this.fresh(stream));
  }

  /** The state with all that the store has just now; undefined for a stream that has no events. @throws StoreUnavailable */
  async fresh(stream: string): Promise<Folded<S> | undefined> {
    const { store, projection } = this.#parts;
    // Begins with what is folded here: strangers can ask for this (POST /oauth/token), and a history may be long.
    let folded = this.#own(stream);
    for await (const event of store.read(stream, (folded?.revision ?? -1) + 1)) {
      folded = this.#next(folded, event, projection);
    }
    return folded;
  }

  /** True once the event of this revision is folded here; false where that took longer than `withinMs`. */
  passed(stream: string, revision: number, withinMs: number): Promise<boolean> {
    if ((this.current(stream)?.revision ?? -1) >= revision) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(stream) ?? new Set();
      this.#waiting.set(stream, waiters);
      const settle = (passed: boolean) => {
        clearTimeout(timer);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiting.delete(stream);
        resolve(passed);
      };
      const waiter: Waiter = { revision, settle };
      const timer = setTimeout(settle, withinMs, false);
      waiters.add(waiter);
    });
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    for (const waiters of [...this.#waiting.values()]) for (const waiter of [...waiters]) waiter.settle(false);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#follow(signal).catch((error: unknown) => this.#recover(error));
      this.#live = false;
      if (!signal.aborted) await delay(RETRY_AFTER_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { projection, store, states } = this.#parts;
    const after = this.#undamaged(() => states.open(projection.name, projection.version));
    for await (const batch of store.subscribe({ after, streamPrefix: projection.streamPrefix, signal })) {
      this.#apply(batch);
    }
  }

  #recover(error: unknown): void {
    const { projection, logger } = this.#parts;
    const about = { projection: projection.name };
    this.#cache.clear();
    if (error instanceof UnknownPosition) {
      logger.warn(about, 'the read model is of another history than the store: rebuilding it');
      this.#forget();
      if (this.#hasBeenLive) this.#lose(error);
      return;
    }
    logger.error({ err: error, ...about }, 'the projection stopped; it goes on from its last commit');
    if (error instanceof StoreRefused && !this.#hasBeenLive) this.#lose(error);
  }

  #forget(): void {
    const { projection, states, logger } = this.#parts;
    try {
      this.#undamaged(() => states.reset(projection.name));
    } catch (error) {
      logger.error({ err: error, projection: projection.name }, 'the read model can not be emptied');
    }
  }

  #undamaged<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      if (error instanceof StatesDamaged) this.#lose(error);
      throw error;
    }
  }

  #lose(error: Error): void {
    this.#lost.reject(error);
    this.#stopping.abort();
  }

  #apply(batch: EventBatch): void {
    const { projection, states } = this.#parts;
    const changed = new Map<string, Folded<S>>();
    for (const event of batch.events) {
      const before = changed.get(event.stream) ?? this.#own(event.stream);
      if (before && event.revision <= before.revision) continue;
      changed.set(event.stream, this.#next(before, event, projection));
    }
    const position = batch.events.at(-1)?.position;
    if (position !== undefined) {
      this.#undamaged(() => states.commit(projection.name, serialised(changed), position));
    }
    for (const [stream, folded] of changed) this.#publish(stream, folded);
    this.#progress(batch);
  }

  /** A copy that a fold may change: what was handed out stays as it was. */
  #own(stream: string): Folded<S> | undefined {
    const folded = this.current(stream);
    return folded && { state: structuredClone(folded.state), revision: folded.revision };
  }

  #next(before: Folded<S> | undefined, event: RecordedEvent, projection: Projection): Folded<S> {
    const state = projection.fold(before ? before.state : projection.init(), event) as S;
    return { state, revision: event.revision };
  }

  #publish(stream: string, folded: Folded<S>): void {
    this.#cache.set(stream, folded);
    for (const waiter of [...(this.#waiting.get(stream) ?? [])]) {
      if (waiter.revision <= folded.revision) waiter.settle(true);
    }
  }

  #progress(batch: EventBatch): void {
    const { now, logger, projection } = this.#parts;
    this.#folded += batch.events.length;
    const about = { projection: projection.name, events: this.#folded, ms: now() - this.#startedAt };
    if (batch.caughtUp && !this.#live) {
      this.#live = this.#hasBeenLive = true;
      this.#caughtUp.resolve();
      logger.info(about, 'the projection has caught up');
    } else if (!this.#live && now() - this.#toldAt >= PROGRESS_EVERY_MS) {
      this.#toldAt = now();
      logger.info(about, 'the projection is catching up');
    }
  }
}

interface Waiter {
  readonly revision: number;
  readonly settle: (passed: boolean) => void;
}

function serialised(changed: ReadonlyMap<string, Folded<unknown>>) {
  return new Map(
    [...changed].map(([stream, { state, revision }]) => [stream, { revision, json: JSON.stringify(state) }]),
  );
}

/** Promise.withResolvers, which Node has from 22 on. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

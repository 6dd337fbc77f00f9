/**
 * The states that the subscription folds, as committed; recently used ones are also in memory. A state that was handed out is never
 * changed; the next one is folded from a copy.
 */
import { LRUCache } from 'lru-cache';
import type { RecordedEvent } from '../ports/event-store.js';
import type { KeptKey, ProjectionState, ProjectionStates, SetAside } from '../ports/projection-states.js';
import { StatesDamaged } from '../ports/projection-states.js';
import { KEY_KEPT_MS, type KeyUse, keyUseOf } from '../webhooks/envelope.js';
import { type Folded, foldNext, handedOut } from './fold.js';
import type { Projection } from './projection-source.js';

/**
 * Of the states' JSON; in memory they take two to three times as much. An account may have 100 webhooks, or one. Measured on
 * 33,000 accounts in turn, with hardly any cache hits: 376 MiB resident with four times this size, 310 with twice, 270 with
 * this; 42 to 48 s of CPU for 45,000 events, with each of them.
 */
const CACHED_CHARACTERS = 4 * 1024 * 1024;

export interface Committed<S> {
  readonly changed: ReadonlyMap<string, Folded<S>>;
  /** The streams that are set aside from now on; null: folded again. */
  readonly setAside: ReadonlyMap<string, SetAside | null>;
}

/** Every method throws StatesDamaged, and calls `onDamaged` first: the stored states are unusable then. */
export class ProjectionStore<S> {
  readonly #projection: Projection;
  readonly #states: ProjectionStates;
  readonly #onDamaged: (error: StatesDamaged) => void;
  readonly #time: () => number;
  readonly #cache = new LRUCache<string, Folded<S>>({ maxSize: CACHED_CHARACTERS });
  #drafts = new Map<string, Folded<S>>();
  #keys: KeptKey[] = [];
  /** As committed: these streams are no longer folded. */
  #aside: ReadonlyMap<string, SetAside> = new Map();
  #asideDrafts = new Map<string, SetAside | null>();
  /** Of streams that are set aside: the last revision that was not folded. */
  readonly #skipped = new Map<string, number>();
  /** Uncommitted events, including those that changed no state. */
  #events = 0;
  /** The position up to which states and drafts contain everything. */
  #position: string | null = null;

  /** @param time ms since the epoch: keys older than their retention are not stored */
  constructor(
    projection: Projection,
    states: ProjectionStates,
    time: () => number,
    onDamaged: (error: StatesDamaged) => void,
  ) {
    this.#projection = projection;
    this.#states = states;
    this.#time = time;
    this.#onDamaged = onDamaged;
  }

  /**
   * The position after which to resume; null is the beginning. Uncommitted states are discarded.
   * @param history the identity of the event store
   */
  open(history: string): string | null {
    this.#cache.clear();
    this.#forgetDrafts();
    const { version } = this.#projection;
    this.#position = this.#undamaged(() => this.#states.open({ version, history }));
    this.#aside = this.#undamaged(() => this.#states.setAside());
    return this.#position;
  }

  get setAside(): ReadonlyMap<string, SetAside> {
    return this.#aside;
  }

  current(stream: string): Folded<S> | undefined {
    const cached = this.#cache.get(stream);
    if (cached) return cached;
    const stored = this.#undamaged(() => this.#states.load(stream));
    if (!stored) return undefined;
    const { revision, eventId, json } = stored;
    const folded = { state: this.#parsed<S>(json), revision, eventId };
    this.#cache.set(stream, folded, { size: json.length });
    return folded;
  }

  /** All stored states, ordered by stream name. */
  *all(): Iterable<readonly [stream: string, state: S]> {
    try {
      for (const [stream, { json }] of this.#states.all()) yield [stream, this.#parsed<S>(json)];
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** The recorded use of the key; null if unknown or expired. */
  key(stream: string, key: string): KeyUse | null {
    const kept = this.#undamaged(() => this.#states.key(stream, key));
    return kept === undefined ? null : { key, ...this.#parsed<Omit<KeyUse, 'key'>>(kept) };
  }

  putAside(stream: string, { why }: SetAside): void {
    this.#asideDrafts.set(stream, { why });
  }

  /** The last revision of a stream that arrived while it was set aside; -1: none did. */
  skippedUpTo(stream: string): number {
    return this.#skipped.get(stream) ?? -1;
  }

  /** A stream that was set aside is folded again, up to here. */
  takeBack(stream: string, folded: Folded<S>, keys: readonly KeyUse[]): void {
    this.#drafts.set(stream, folded);
    this.#asideDrafts.set(stream, null);
    this.#skipped.delete(stream);
    for (const use of keys) this.#keep(stream, use);
  }

  /** Folds new events; the result is invisible until committed. @param position everything up to here was received */
  fold(events: readonly RecordedEvent[], position: string): void {
    for (const event of events) this.#foldOne(event);
    this.#events += events.length;
    this.#position = position;
  }

  #foldOne(event: RecordedEvent): void {
    const { stream, revision } = event;
    if (this.#isAside(stream)) {
      this.#skipped.set(stream, revision);
      return;
    }
    const before = this.#drafts.get(stream) ?? this.current(stream);
    const due = before ? before.revision + 1 : 0;
    if (revision < due) return;
    const gap = { why: `its events before revision ${revision} are missing: deleted, expired or truncated` };
    const next = revision > due ? gap : foldNext(this.#projection, before, event);
    if ('why' in next) {
      this.putAside(stream, next);
      return;
    }
    this.#drafts.set(stream, next);
    const used = keyUseOf(event);
    if (used) this.#keep(stream, used);
  }

  #keep(stream: string, { key, ...use }: KeyUse): void {
    if (use.at < this.#time() - KEY_KEPT_MS) return;
    this.#keys.push({ stream, key, at: use.at, use: JSON.stringify(use) });
  }

  #isAside(stream: string): boolean {
    const draft = this.#asideDrafts.get(stream);
    return draft === undefined ? this.#aside.has(stream) : draft !== null;
  }

  forgetKeys(): void {
    this.#undamaged(() => this.#states.forgetKeys(this.#time() - KEY_KEPT_MS));
  }

  get uncommitted(): { readonly events: number; readonly states: number } {
    return { events: this.#events, states: this.#drafts.size };
  }

  /** Commits everything folded since the last commit, and the position. Returns the changes. */
  commit(): Committed<S> {
    const [changed, keys, setAside, position] = [this.#drafts, this.#keys, this.#asideDrafts, this.#position];
    const states = serialised(changed);
    // If this fails, the next commit has these as well.
    this.#undamaged(() => this.#states.commit({ states, keys, setAside, position }));
    this.#forgetDrafts();
    for (const [stream, folded] of changed) {
      this.#cache.set(stream, handedOut(folded), { size: states.get(stream)?.json.length ?? 1 });
    }
    if (setAside.size > 0) this.#aside = this.#undamaged(() => this.#states.setAside());
    return { changed, setAside };
  }

  #forgetDrafts(): void {
    this.#drafts = new Map();
    this.#keys = [];
    this.#asideDrafts = new Map();
    this.#events = 0;
  }

  /** Pages of the file may be overwritten while the file remains valid SQLite. */
  #parsed<T>(json: string): T {
    try {
      return JSON.parse(json) as T;
    } catch (error) {
      throw this.#told(this.#states.unsound(error));
    }
  }

  #undamaged<T>(use: () => T): T {
    try {
      return use();
    } catch (error) {
      throw this.#told(error);
    }
  }

  #told(error: unknown): unknown {
    if (error instanceof StatesDamaged) this.#onDamaged(error);
    return error;
  }
}

function serialised(changed: ReadonlyMap<string, Folded<unknown>>): ReadonlyMap<string, ProjectionState> {
  const stored = ({ state, revision, eventId }: Folded<unknown>) => ({
    revision,
    eventId,
    json: JSON.stringify(state),
  });
  return new Map([...changed].map(([stream, folded]) => [stream, stored(folded)]));
}

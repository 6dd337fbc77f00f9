/**
 * The states of accounts as this process knows them. `cached` may lag behind the store, `latest` never does.
 *
 *   stored (ProjectionStore) <- the subscription
 *   ahead  <- this process's own commands (`append`), and what `latest` read from the store; until the subscription passes it
 *
 * So no command waits for the subscription, and the next GET shows its effect. States are handed out as they are kept: users
 * must not change them.
 */
import type { EventStore, NewEvent, RecordedEvent } from '../ports/event-store.js';
import { OtherHistory, StoreUnavailable, StreamHidden } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { type KeyUse, keyUseOf } from '../webhooks/envelope.js';
import { AccountUnreadable } from './account-unreadable.js';
import { charactersOf, type Folded, foldAll, foldNext, handedOut } from './fold.js';
import type { Projection } from './projection-source.js';
import type { Committed, ProjectionStore } from './projection-store.js';
import { type Quarantine, withKeys } from './quarantine.js';

/** Characters: of the states' JSON, and of their keys. */
const AHEAD_LIMITS = { streams: 10_000, characters: 64 * 1024 * 1024 };
/** Of a key, beside its URL. */
const KEY_CHARACTERS = 250;
const RESTORED = 'has other events than before: it was restored';

/** Too much is ahead of the read model to start a command: the read model must catch up first. */
export class ReadModelBehind extends Error {
  override readonly name = 'ReadModelBehind';
  readonly code = 'READ_MODEL_BEHIND';
}

interface Ahead<S> {
  readonly folded: Folded<S>;
  /** Grows while the account is ahead: to copy it for each append would take quadratic time. */
  readonly keys: Map<string, KeyUse>;
  /** Of the state, and of the keys. */
  readonly characters: number;
  readonly keyCharacters: number;
  /** By `now`, when this process appended the first of its events; null if it only read them. */
  readonly since: number | null;
  /** By `now`: the last event was in the store. */
  readonly storedAt: number;
}

export interface AccountStatesParts<S> {
  readonly projection: Projection;
  readonly stored: ProjectionStore<S>;
  readonly store: Pick<EventStore, 'read' | 'endsWith'>;
  readonly quarantine: Pick<Quarantine<S>, 'examine'>;
  /** ms, monotonic. */
  readonly now: () => number;
  /** Called with how long an own append was ahead of the stored states, in ms. */
  readonly onReached: (ms: number) => void;
  /** The store has other events than those that are folded. */
  readonly onOtherHistory: (error: OtherHistory) => void;
  readonly limits?: typeof AHEAD_LIMITS;
}

export class AccountStates<S> {
  readonly #parts: AccountStatesParts<S>;
  readonly #stored: ProjectionStore<S>;
  /** In the order of `storedAt`. */
  readonly #ahead = new Map<string, Ahead<S>>();
  #characters = 0;

  constructor(parts: AccountStatesParts<S>) {
    this.#parts = parts;
    this.#stored = parts.stored;
  }

  /** The streams that are quarantined, by name. */
  get setAside(): ReadonlyMap<string, SetAside> {
    return this.#stored.setAside;
  }

  /** Every stored state, by stream. */
  all(): Iterable<readonly [stream: string, state: S]> {
    return this.#stored.all();
  }

  /** The state as known here; undefined if the stream is unknown here (yet). @throws AccountUnreadable */
  cached(stream: string): Folded<S> | undefined {
    const aside = this.setAside.get(stream);
    if (aside) throw new AccountUnreadable(stream, aside);
    const stored = this.#stored.current(stream);
    const ahead = this.#ahead.get(stream)?.folded;
    return ahead && ahead.revision > (stored?.revision ?? -1) ? ahead : stored;
  }

  /** As cached or, if the stream is unknown here yet, as in the store. @throws the errors of `latest` */
  async find(stream: string): Promise<Folded<S> | undefined> {
    return this.cached(stream) ?? (await this.latest(stream));
  }

  /**
   * The state with all events now in the store; undefined for a stream without events. It is cached from now on.
   * @throws StoreUnavailable, OtherHistory, AccountUnreadable
   */
  async latest(stream: string): Promise<Folded<S> | undefined> {
    try {
      return await this.#latest(stream);
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      await this.#parts.quarantine.examine(stream);
      const aside = this.setAside.get(stream);
      throw aside ? new AccountUnreadable(stream, aside) : new StoreUnavailable(error.message, { cause: error });
    }
  }

  async #latest(stream: string): Promise<Folded<S> | undefined> {
    // Starts from the cached state: unauthenticated callers can trigger this (POST /oauth/token), and a history may be long.
    const before = this.cached(stream);
    const { store, projection } = this.#parts;
    if (before && (await store.endsWith(stream, before.revision, before.eventId))) return before;
    const keys: KeyUse[] = [];
    const after = await foldAll(projection, withKeys(this.#newer(stream, before), keys), before);
    if (after && after.revision !== before?.revision && this.#isAhead(stream, after)) {
      this.#keepAhead(stream, after, keys, false);
    }
    return after;
  }

  /** Also reads the last known event again: it identifies the history. */
  async *#newer(stream: string, known: Folded<S> | undefined): AsyncIterable<RecordedEvent> {
    let isKnown = known === undefined;
    for await (const event of this.#parts.store.read(stream, known?.revision ?? 0)) {
      if (isKnown) yield event;
      else if (event.id !== known?.eventId) throw this.#otherHistory(RESTORED);
      isKnown = true;
    }
    if (!isKnown) throw this.#otherHistory('ends earlier than before: it was restored');
  }

  /**
   * Call after the store has appended the events: they are visible here at once.
   * @param before the state that they follow @param revision of the last one
   */
  append(stream: string, before: Folded<S> | undefined, events: readonly NewEvent[], revision: number): Folded<S> {
    let folded = before;
    for (const [index, event] of events.entries()) {
      const recorded = { ...event, stream, revision: revision - events.length + 1 + index, position: '' };
      const next = foldNext(this.#parts.projection, folded, recorded);
      if ('why' in next) throw new AccountUnreadable(stream, next);
      folded = next;
    }
    if (!folded) throw new RangeError('nothing was appended');
    const after = handedOut(folded);
    if (this.#isAhead(stream, after)) {
      const keys = events.flatMap((event) => keyUseOf(event) ?? []);
      this.#keepAhead(stream, after, keys, true);
    } else {
      // The append stands on the states before it: none of them was lost.
      if ((this.#ahead.get(stream)?.folded.revision ?? 0) <= after.revision) this.#drop(stream);
      this.#parts.onReached(0);
    }
    return after;
  }

  /** The recorded use of the key, as far as this process has read the stream. */
  key(stream: string, key: string): KeyUse | null {
    return this.#ahead.get(stream)?.keys.get(key) ?? this.#stored.key(stream, key);
  }

  /** Call before a command starts. @throws ReadModelBehind if too much is ahead of the stored states */
  assertNotTooFarAhead(): void {
    const { streams, characters } = this.#parts.limits ?? AHEAD_LIMITS;
    if (this.#ahead.size < streams && this.#characters < characters) return;
    throw new ReadModelBehind(`${this.#ahead.size} accounts are ahead of the read model`);
  }

  /**
   * Call when the stored states have passed a head that was asked for at `time`: events that were in the store before, and
   * that the stored states did not show, must be there all the same. A store that was restored has lost them.
   * @throws OtherHistory, StoreUnavailable
   */
  async mustHaveShown(time: number): Promise<void> {
    const unseen = [...this.#ahead].filter(([, { storedAt }]) => storedAt < time);
    for (const [stream, { folded }] of unseen) await this.#mustStand(stream, folded);
  }

  async #mustStand(stream: string, { revision, eventId }: Folded<S>): Promise<void> {
    try {
      for await (const { id } of this.#parts.store.read(stream, revision)) {
        if (id !== eventId) break;
        if ((this.#stored.current(stream)?.revision ?? -1) >= revision) this.#drop(stream);
        return;
      }
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      return this.#parts.quarantine.examine(stream);
    }
    throw this.#otherHistory(RESTORED);
  }

  /**
   * The subscription has passed these. A state that it passed without showing its event stays until the store was asked for
   * it: another event may have its revision in a store that was restored.
   */
  committed({ changed, setAside }: Committed<S>): void {
    for (const [stream, { eventId }] of changed) {
      const ahead = this.#ahead.get(stream);
      if (ahead?.folded.eventId !== eventId) continue;
      this.#drop(stream);
      if (ahead.since !== null) this.#parts.onReached(this.#parts.now() - ahead.since);
    }
    for (const stream of setAside.keys()) this.#drop(stream);
  }

  /** A state older than the kept one is ignored. */
  #keepAhead(stream: string, folded: Folded<S>, keys: readonly KeyUse[], isAppended: boolean): void {
    const before = this.#ahead.get(stream);
    if (before && before.folded.revision >= folded.revision) return;
    const all = before?.keys ?? new Map<string, KeyUse>();
    let keyCharacters = before?.keyCharacters ?? 0;
    for (const use of keys) {
      all.set(use.key, use);
      keyCharacters += use.webhooks.reduce((sum, { url }) => sum + url.length, KEY_CHARACTERS);
    }
    const characters = charactersOf(folded.state) + keyCharacters;
    const storedAt = this.#parts.now();
    const since = before?.since ?? (isAppended ? storedAt : null);
    this.#drop(stream);
    this.#characters += characters;
    this.#ahead.set(stream, { folded, keys: all, characters, keyCharacters, since, storedAt });
  }

  #drop(stream: string): void {
    this.#characters -= this.#ahead.get(stream)?.characters ?? 0;
    this.#ahead.delete(stream);
  }

  #isAhead(stream: string, { revision, eventId }: Folded<S>): boolean {
    const stored = this.#stored.current(stream);
    return !stored || stored.revision < revision || (stored.revision === revision && stored.eventId !== eventId);
  }

  #otherHistory(why: string): OtherHistory {
    const error = new OtherHistory(why);
    this.#parts.onOtherHistory(error);
    return error;
  }
}

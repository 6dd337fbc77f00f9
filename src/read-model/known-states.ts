/**
 * The states as this process knows them: folded from the subscription or, where that is behind, from its own commands and
 * reads. They are handed out as they are cached: users must not change them.
 */
import {
  type EventStore,
  OtherHistory,
  type RecordedEvent,
  StoreUnavailable,
  StreamHidden,
} from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import type { KeyUse } from '../webhooks/key-use.js';
import { AccountUnreadable } from './account-unreadable.js';
import { AheadStates } from './ahead-states.js';
import type { Committed, Folded, FoldedStates } from './folded-states.js';
import { type Quarantine, withKeys } from './quarantine.js';
import { readOn } from './read-on.js';

export interface KnownStatesParts<S> {
  readonly folded: FoldedStates<S>;
  readonly store: Pick<EventStore, 'read' | 'endsWith'>;
  readonly quarantine: Pick<Quarantine<S>, 'retry' | 'examine'>;
  /** ms, monotonic. */
  readonly now: () => number;
  /** Called with how long an own append was ahead of the folded states, in ms. */
  readonly onReached: (ms: number) => void;
  /** The store has other events than those that are folded. */
  readonly onOtherHistory: (error: OtherHistory) => void;
}

export class KnownStates<S> {
  readonly #parts: KnownStatesParts<S>;
  readonly #folded: FoldedStates<S>;
  readonly #ahead: AheadStates<S>;

  constructor(parts: KnownStatesParts<S>) {
    this.#parts = parts;
    this.#folded = parts.folded;
    this.#ahead = new AheadStates(parts.now);
  }

  /** The streams that are set aside, by name. */
  get setAside(): ReadonlyMap<string, SetAside> {
    return this.#folded.setAside;
  }

  /** The state as known here; undefined if the stream is unknown here (yet). @throws AccountUnreadable */
  current(stream: string): Folded<S> | undefined {
    const aside = this.setAside.get(stream);
    if (aside) throw new AccountUnreadable(stream, aside);
    const folded = this.#folded.current(stream);
    const ahead = this.#ahead.current(stream);
    return ahead && ahead.revision > (folded?.revision ?? -1) ? ahead : folded;
  }

  /** Every state as folded here, by stream. */
  all(): Iterable<readonly [stream: string, state: S]> {
    return this.#folded.all();
  }

  /** The state as known here or, if the stream is unknown here yet, folded from the store. @throws as `fresh` */
  async find(stream: string): Promise<Folded<S> | undefined> {
    await this.#parts.quarantine.retry(stream);
    return this.current(stream) ?? (await this.fresh(stream));
  }

  /**
   * The state with all events now in the store; undefined for a stream without events. It is visible here from now on.
   * @throws StoreUnavailable, OtherHistory, AccountUnreadable
   */
  async fresh(stream: string): Promise<Folded<S> | undefined> {
    await this.#parts.quarantine.retry(stream);
    try {
      return await this.#fresh(stream);
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      await this.#parts.quarantine.examine(stream);
      const aside = this.setAside.get(stream);
      throw aside ? new AccountUnreadable(stream, aside) : new StoreUnavailable(error.message, { cause: error });
    }
  }

  async #fresh(stream: string): Promise<Folded<S> | undefined> {
    // Starts from the state known here: unauthenticated callers can trigger this (POST /oauth/token), and a history may be
    // long.
    const before = this.current(stream);
    if (before && (await this.#parts.store.endsWith(stream, before.revision, before.eventId))) return before;
    const keys: KeyUse[] = [];
    const after = await this.#folded.extended(before, this.#newer(stream, before, keys));
    if (after && after.revision !== before?.revision && this.#isAhead(stream, after)) {
      this.#ahead.put(stream, after, keys, false);
    }
    return after;
  }

  /** The recorded use of the key, as far as this process has read the stream. */
  key(stream: string, key: string): KeyUse | null {
    return this.#ahead.key(stream, key) ?? this.#folded.key(stream, key);
  }

  /** Events that this process appended are visible at once. */
  applied(stream: string, after: Folded<S>, keys: readonly KeyUse[]): void {
    if (this.#isAhead(stream, after)) {
      this.#ahead.put(stream, after, keys, true);
      return;
    }
    // The append stands on the states before it: none of them was lost.
    if ((this.#ahead.current(stream)?.revision ?? 0) <= after.revision) this.#ahead.drop(stream);
    this.#parts.onReached(0);
  }

  /** Call before a command starts. @throws ReadModelBehind if too much is ahead of the folded states */
  mustTakeMore(): void {
    this.#ahead.mustTakeMore();
  }

  /**
   * Call when the folded states have passed a head that was asked for at `time`: events that were in the store before, and
   * that the folded states did not show, must be there all the same. A store that was restored has lost them.
   * @throws OtherHistory, StoreUnavailable
   */
  async mustHaveShown(time: number): Promise<void> {
    for (const [stream, last] of this.#ahead.storedBefore(time)) await this.#mustStand(stream, last);
  }

  async #mustStand(stream: string, { revision, eventId }: Folded<S>): Promise<void> {
    try {
      for await (const { id } of this.#parts.store.read(stream, revision)) {
        if (id !== eventId) break;
        if ((this.#folded.current(stream)?.revision ?? -1) >= revision) this.#ahead.drop(stream);
        return;
      }
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      return this.#parts.quarantine.examine(stream);
    }
    throw this.#otherHistory(new OtherHistory('has other events than before: it was restored'));
  }

  #otherHistory(error: OtherHistory): OtherHistory {
    this.#parts.onOtherHistory(error);
    return error;
  }

  /** The folded states have these by now. */
  committed({ changed, setAside }: Committed<S>): void {
    for (const [stream, folded] of changed) {
      const ms = this.#ahead.reached(stream, folded);
      if (ms !== null) this.#parts.onReached(ms);
    }
    for (const stream of setAside.keys()) this.#ahead.drop(stream);
  }

  async *#newer(stream: string, before: Folded<S> | undefined, keys: KeyUse[]): AsyncIterable<RecordedEvent> {
    try {
      yield* withKeys(readOn(this.#parts.store, stream, before), keys);
    } catch (error) {
      throw error instanceof OtherHistory ? this.#otherHistory(error) : error;
    }
  }

  #isAhead(stream: string, { revision, eventId }: Folded<S>): boolean {
    const folded = this.#folded.current(stream);
    return !folded || folded.revision < revision || (folded.revision === revision && folded.eventId !== eventId);
  }
}

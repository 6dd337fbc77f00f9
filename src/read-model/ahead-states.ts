/**
 * States that this process knows but its read model has not folded yet: those of its own commands, and those that a command
 * read from the store. They are visible at once, so commands don't wait for the subscription, and the next GET shows them.
 * They stay until the read model has reached their revision.
 */
import type { KeyUse } from '../webhooks/key-use.js';
import type { Folded } from './folded-states.js';
import { charactersOf } from './plain-json.js';

export interface AheadLimits {
  readonly streams: number;
  /** Of the states' JSON, and of their keys. */
  readonly characters: number;
}

/** Of a key, beside its URL. */
const KEY_CHARACTERS = 250;

const AHEAD_LIMITS: AheadLimits = { streams: 10_000, characters: 64 * 1024 * 1024 };

/** Too much is ahead of the read model to start a command: the read model must catch up first. */
export class ReadModelBehind extends Error {
  override readonly name = 'ReadModelBehind';
  readonly code = 'READ_MODEL_BEHIND';
}

interface AheadState<S> {
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

export class AheadStates<S> {
  readonly #limits: AheadLimits;
  readonly #now: () => number;
  /** In the order of `storedAt`. */
  readonly #entries = new Map<string, AheadState<S>>();
  #characters = 0;

  constructor(now: () => number, limits: AheadLimits = AHEAD_LIMITS) {
    this.#now = now;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @throws ReadModelBehind */
  mustTakeMore(): void {
    if (this.size < this.#limits.streams && this.#characters < this.#limits.characters) return;
    throw new ReadModelBehind(`${this.size} accounts are ahead of the read model`);
  }

  current(stream: string): Folded<S> | undefined {
    return this.#entries.get(stream)?.folded;
  }

  key(stream: string, key: string): KeyUse | undefined {
    return this.#entries.get(stream)?.keys.get(key);
  }

  /** A state older than the stored one is ignored. @param isOwn this process appended it */
  put(stream: string, folded: Folded<S>, keys: readonly KeyUse[], isOwn: boolean): void {
    const before = this.#entries.get(stream);
    if (before && before.folded.revision >= folded.revision) return;
    const all = before?.keys ?? new Map<string, KeyUse>();
    let keyCharacters = before?.keyCharacters ?? 0;
    for (const use of keys) {
      all.set(use.key, use);
      keyCharacters += KEY_CHARACTERS + use.webhook.url.length;
    }
    const characters = charactersOf(folded.state) + keyCharacters;
    this.#characters += characters - (before?.characters ?? 0);
    const storedAt = this.#now();
    this.#entries.delete(stream);
    const since = before?.since ?? (isOwn ? storedAt : null);
    this.#entries.set(stream, { folded, keys: all, characters, keyCharacters, since, storedAt });
  }

  /** Those whose last known event was in the store before this time, by `now`. */
  storedBefore(time: number): [stream: string, folded: Folded<S>][] {
    const found: [string, Folded<S>][] = [];
    for (const [stream, { storedAt, folded }] of this.#entries) {
      if (storedAt >= time) break;
      found.push([stream, folded]);
    }
    return found;
  }

  /**
   * The read model has reached this event. One that it has passed without showing it stays, until the store was asked for it:
   * another event may have its revision in a store that was restored.
   * @returns ms since an own append; null if the state is still ahead, or was only read
   */
  reached(stream: string, { eventId }: Pick<Folded<S>, 'eventId'>): number | null {
    const entry = this.#entries.get(stream);
    if (entry?.folded.eventId !== eventId) return null;
    this.drop(stream);
    return entry.since === null ? null : this.#now() - entry.since;
  }

  drop(stream: string): void {
    this.#characters -= this.#entries.get(stream)?.characters ?? 0;
    this.#entries.delete(stream);
  }
}

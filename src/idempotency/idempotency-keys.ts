/**
 * One request per idempotency key: look, reserve the key, perform, keep the answer; every step that writes is an append to
 * the key's own stream with an expected revision, so it holds over any number of processes and over restarts.
 *
 * A key in use without an answer is one whose process is gone, or is at it right now: the request is performed again,
 * which it has to be safe for. In one process such requests wait for one another.
 */
import { createHash } from 'node:crypto';
import { type EventStore, NO_STREAM, type RecordedEvent, WrongExpectedRevision } from '../ports/event-store.js';
import { KEY_STREAMS } from './expiry.js';
import type { Fingerprints } from './fingerprint.js';
import { at, evolve, FREE, type KeptAnswer, type KeyEvent, type KeyState } from './key-state.js';

export interface KeyUse {
  /** A key is its account's: another account's key of the same name is another key. */
  readonly accountId: number;
  readonly key: string;
  /** What makes two requests the same one; only its fingerprint is kept. */
  readonly content: string;
}

/** done: the answer is kept. refused: nothing was changed, and the key is free again. */
export type Performed<Why> =
  | { readonly kind: 'done'; readonly answer: KeptAnswer }
  | { readonly kind: 'refused'; readonly why: Why };

/** Refused before the key is reserved: nothing is written, however often it is asked for. */
export type Prepared<Why> =
  | { readonly kind: 'ready'; readonly perform: () => Promise<Performed<Why>> }
  | { readonly kind: 'refused'; readonly why: Why };

export type Outcome<Why> =
  | Performed<Why>
  | { readonly kind: 'replayed'; readonly answer: KeptAnswer }
  | { readonly kind: 'other-request' };

export interface IdempotencyKeys {
  /**
   * @param prepare every check that needs no write; not asked where there is an answer already
   * @throws what `prepare` throws; what `perform` throws: then it is in doubt, and performed again. StoreUnavailable:
   * likewise.
   */
  once<Why>(use: KeyUse, prepare: () => Promise<Prepared<Why>>): Promise<Outcome<Why>>;
}

export interface IdempotencyParts {
  readonly store: EventStore;
  readonly fingerprints: Fingerprints;
  readonly newEventId: () => string;
  readonly now: () => Date;
}

export function createIdempotencyKeys(parts: IdempotencyParts): IdempotencyKeys {
  const inTurn = turns();
  return {
    once: (use, prepare) => inTurn(streamOf(use), () => once(new KeyStream(parts, use), prepare)),
  };
}

async function once<Why>(stream: KeyStream, prepare: () => Promise<Prepared<Why>>): Promise<Outcome<Why>> {
  const before = await stream.look();
  if (before) return before;
  const prepared = await prepare();
  if (prepared.kind === 'refused') {
    if (!stream.isFree) await stream.release();
    return prepared;
  }
  const meanwhile = await stream.reserve();
  if (meanwhile) return meanwhile;
  const performed = await prepared.perform();
  if (performed.kind === 'done') return stream.keep(performed.answer);
  await stream.release();
  return performed;
}

/** One request's view of its key. */
class KeyStream {
  readonly #parts: IdempotencyParts;
  readonly #stream: string;
  readonly #content: string;
  #state: KeyState = FREE;
  #revision = NO_STREAM;
  /** Where the store says the stream stands, after an append that came too late. */
  #standsAt: number | null = null;

  constructor(parts: IdempotencyParts, use: KeyUse) {
    this.#parts = parts;
    this.#stream = streamOf(use);
    this.#content = use.content;
  }

  /** As it was looked at last. */
  get isFree(): boolean {
    return at(this.#parts.now(), this.#state).kind === 'free';
  }

  /** Null where the request is to be performed: the key is free, or in use for this very request. */
  async look(): Promise<Outcome<never> | null> {
    const state = await this.#now();
    if (state.kind === 'free') return null;
    if (!this.#isOurs(state)) return { kind: 'other-request' };
    return state.kind === 'answered' ? { kind: 'replayed', answer: state.answer } : null;
  }

  /** After a look. Null where the key is the request's now. */
  async reserve(): Promise<Outcome<never> | null> {
    while (this.isFree) {
      const { fingerprints, now } = this.#parts;
      const data = { fingerprint: fingerprints.of(this.#content), usedAt: now().toISOString() };
      if (await this.#append({ type: 'IdempotencyKeyUsed', data })) return null;
      const before = await this.look();
      if (before) return before;
    }
    return null;
  }

  /** Where the same request was answered elsewhere meanwhile, that answer counts: the first one. */
  async keep(answer: KeptAnswer): Promise<Outcome<never>> {
    for (;;) {
      const data = { ...answer, answeredAt: this.#parts.now().toISOString() };
      if (await this.#append({ type: 'IdempotentAnswerKept', data })) return { kind: 'done', answer };
      const state = await this.#now();
      if (!this.#isOurs(state)) return { kind: 'done', answer };
      if (state.kind === 'answered') return { kind: 'replayed', answer: state.answer };
    }
  }

  /** Where the key has moved on, it is another's to say what becomes of it. */
  async release(): Promise<void> {
    await this.#append({ type: 'IdempotencyKeyReleased', data: { releasedAt: this.#parts.now().toISOString() } });
  }

  #isOurs(state: KeyState): boolean {
    return state.kind !== 'free' && this.#parts.fingerprints.isOf(state.fingerprint, this.#content);
  }

  /** The state with all that the store has. */
  async #now(): Promise<KeyState> {
    const standsAt = this.#standsAt ?? this.#revision;
    this.#standsAt = null;
    // What had expired was removed as a whole, and the stream begins anew.
    if (standsAt < this.#revision) [this.#state, this.#revision] = [FREE, NO_STREAM];
    for await (const event of this.#parts.store.read(this.#stream, this.#revision + 1)) {
      this.#state = evolve(this.#state, keyEvent(event));
      this.#revision = event.revision;
    }
    // Events that expired can't be read, and their revisions still count.
    this.#revision = Math.max(this.#revision, standsAt);
    return at(this.#parts.now(), this.#state);
  }

  /** False where the stream had moved on. */
  async #append({ type, data }: KeyEvent): Promise<boolean> {
    const event = { id: this.#parts.newEventId(), type, data: { ...data }, metadata: {} };
    try {
      this.#revision = (await this.#parts.store.append(this.#stream, [event], this.#revision)).revision;
      this.#state = evolve(this.#state, { type, data } as KeyEvent);
      return true;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      this.#standsAt = error.actual;
      return false;
    }
  }
}

/** The key itself is the client's, of any length and alphabet: a stream's name is made of its hash. */
function streamOf({ accountId, key }: KeyUse): string {
  return `${KEY_STREAMS}${accountId}-${createHash('sha256').update(key).digest('base64url')}`;
}

function keyEvent({ type, data }: RecordedEvent): KeyEvent {
  return { type, data } as unknown as KeyEvent;
}

/** Work under one name, one after the other. */
function turns() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, turn);
    try {
      return await turn;
    } finally {
      if (last.get(name) === turn) last.delete(name);
    }
  };
}

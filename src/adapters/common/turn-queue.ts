/**
 * What waits in a lane: keys take turns, and what has the same key goes in its order. A key within its usual rate goes first, so
 * that a burst of others does not delay an account that gets what it always gets. Then, of keys that had nothing waiting, one
 * item each, and then the others, a dozen each. Each of these kinds goes alternately with those behind it, so that none waits
 * forever (as in RFC 8290, 4.2).
 *
 *   key:   none waits -> usual or new -> (taken, and has more) usual or others -> none waits
 *          new or others -> (one more is added, and it is within its usual rate) usual
 */
import { LRUCache } from 'lru-cache';
import { UsualRate } from '../../time/usual-rate.js';

interface Entry<T> {
  /** Null: it was taken, and is not kept in memory by those that wait before it. */
  item: T | null;
  readonly addedAt: number;
  /** Of its key, when it was added. */
  readonly behind: number;
  next: Entry<T> | null;
}

interface Turn<T> {
  readonly key: string;
  /** Null: it is not counted for this key. */
  readonly rate: UsualRate | null;
  readonly entries: Linked<Entry<T>>;
  waiting: number;
  /** The list that it is in, and its neighbors there. */
  list: TurnList<T> | null;
  previous: Turn<T> | null;
  next: Turn<T> | null;
}

/** First in, first out. Array.shift moves all others where there are many: a batch may have 500,000 records. */
class Linked<T extends { next: T | null }> {
  first: T | null = null;
  #last: T | null = null;

  push(one: T): void {
    one.next = null;
    if (this.#last && this.first) this.#last.next = one;
    else this.first = one;
    this.#last = one;
  }

  shift(): T | null {
    const { first } = this;
    if (first) this.first = first.next;
    return first;
  }
}

/** First in, first out, and each may leave. A Set of thousands is searched for its first again and again: 50 us each time. */
class TurnList<T> {
  first: Turn<T> | null = null;
  #last: Turn<T> | null = null;

  add(turn: Turn<T>): void {
    turn.list?.delete(turn);
    turn.list = this;
    turn.previous = this.#last;
    if (this.#last) this.#last.next = turn;
    else this.first = turn;
    this.#last = turn;
  }

  /** @returns whether it was in this list */
  delete(turn: Turn<T>): boolean {
    if (turn.list !== this) return false;
    const { previous, next } = turn;
    if (previous) previous.next = next;
    else this.first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    turn.list = turn.previous = turn.next = null;
    return true;
  }
}

/** Items of a turn. What goes to the same endpoint at once shares its connections: each item alone may need a handshake. */
const QUANTUM = 12;
/** What waited longer, or behind QUANTUM of its key, does not make a rate: neither an overload nor a burst becomes usual. */
const PROMPT_MS = 1_000;
/** The first items of a key count as if they had taken so long. */
const LEAST_AGE_MS = 3_000;
/** Keys whose rate is known. Accounts have short ones. */
const REMEMBERED = 4_096;
const LONGEST_KEY = 32;
/** Entries that were taken, before they are removed from the beginning of a list. */
const MIN_TAKEN = 1_024;

interface TurnQueueOptions {
  /** ms of a monotonic clock. */
  readonly now: () => number;
  /** Items of a turn, of a key beyond its usual rate. */
  readonly quantum?: number;
}

export class TurnQueue<T extends { readonly turn: string }> {
  readonly #now: () => number;
  readonly #quantum: number;
  /** Hazard: it takes 100 KB from the beginning, and most of a hundred lanes have no keys. */
  #rates: LRUCache<string, UsualRate> | null = null;
  readonly #turns = new Map<string, Turn<T>>();
  readonly #usual = new TurnList<T>();
  readonly #new = new TurnList<T>();
  readonly #others = new TurnList<T>();
  #usualWasLast = false;
  /** New keys that had their item since the last turn of another. */
  #newTaken = 0;
  /** Of those beyond their usual rate, one that has begun its turn, and may have so many more. */
  #current: Turn<T> | null = null;
  #left = 0;
  /** In order; the first that was not taken is at #oldest. */
  readonly #entries: Entry<T>[] = [];
  #oldest = 0;
  length = 0;

  constructor({ now, quantum = QUANTUM }: TurnQueueOptions) {
    this.#now = now;
    this.#quantum = quantum;
  }

  add(item: T): void {
    const addedAt = this.#now();
    const known = this.#turns.get(item.turn);
    const turn = known ?? this.#begun(item.turn, addedAt);
    const entry: Entry<T> = { item, addedAt, behind: turn.waiting, next: null };
    if (turn.rate?.isUsual(addedAt)) this.#becomesUsual(turn);
    else if (!known) this.#new.add(turn);
    turn.entries.push(entry);
    turn.waiting += 1;
    this.#entries.push(entry);
    this.length += 1;
  }

  /** The next to take. @param onlyUsual of a key within its usual rate */
  head(onlyUsual = false): T | undefined {
    return this.#next(onlyUsual)?.entries.first?.item ?? undefined;
  }

  /** Items from the oldest on, also those that were taken before it: by so many one is overtaken, if no more are added. */
  get span(): number {
    return this.#entries.length - this.#oldest;
  }

  /** The one that has waited longest. */
  get oldest(): T | undefined {
    return this.#entries[this.#oldest]?.item ?? undefined;
  }

  take(onlyUsual = false): T | undefined {
    const turn = this.#next(onlyUsual);
    const entry = turn?.entries.shift();
    const item = entry?.item;
    if (!turn || !entry || !item) return undefined;
    turn.waiting -= 1;
    this.#took(turn, entry);
    this.length -= 1;
    entry.item = null;
    this.#forgetTaken();
    return item;
  }

  #next(onlyUsual: boolean): Turn<T> | null {
    const { first: usual } = this.#usual;
    if (onlyUsual) return usual;
    const beyond = this.#current ?? this.#nextBeyond();
    return usual && !(this.#usualWasLast && beyond) ? usual : beyond;
  }

  #nextBeyond(): Turn<T> | null {
    const [{ first: fresh }, { first: other }] = [this.#new, this.#others];
    return fresh && !(this.#newTaken >= this.#quantum && other) ? fresh : other;
  }

  #took(turn: Turn<T>, { addedAt, behind }: Entry<T>): void {
    const now = this.#now();
    turn.rate?.began(now);
    if (now - addedAt <= PROMPT_MS && behind < QUANTUM) turn.rate?.counts(now);
    this.#usualWasLast = this.#usual.delete(turn);
    if (!this.#usualWasLast) this.#tookBeyond(turn);
    if (!turn.entries.first) this.#ended(turn);
    else if (turn.rate?.isUsual(now)) this.#becomesUsual(turn);
    else if (turn !== this.#current) this.#others.add(turn);
  }

  #tookBeyond(turn: Turn<T>): void {
    if (this.#new.delete(turn)) {
      this.#newTaken += 1;
      return;
    }
    if (this.#others.delete(turn)) this.#left = this.#quantum;
    this.#newTaken = 0;
    this.#left -= 1;
    this.#current = this.#left > 0 ? turn : null;
  }

  #begun(key: string, now: number): Turn<T> {
    const isKnown = key !== '' && key.length <= LONGEST_KEY;
    const rate = isKnown ? this.#rateOf(key, now) : null;
    const turn = { key, rate, entries: new Linked<Entry<T>>(), waiting: 0, list: null, previous: null, next: null };
    this.#turns.set(key, turn);
    return turn;
  }

  #rateOf(key: string, now: number): UsualRate {
    this.#rates ??= new LRUCache({ max: REMEMBERED });
    const rate = this.#rates.get(key) ?? new UsualRate({ since: now, leastMs: LEAST_AGE_MS });
    this.#rates.set(key, rate);
    return rate;
  }

  #ended(turn: Turn<T>): void {
    this.#turns.delete(turn.key);
    if (this.#current === turn) this.#current = null;
  }

  #becomesUsual(turn: Turn<T>): void {
    if (this.#current === turn) this.#current = null;
    if (turn.list !== this.#usual) this.#usual.add(turn);
  }

  #forgetTaken(): void {
    while (this.#entries[this.#oldest]?.item === null) this.#oldest += 1;
    if (this.#oldest < MIN_TAKEN || 2 * this.#oldest < this.#entries.length) return;
    this.#entries.splice(0, this.#oldest);
    this.#oldest = 0;
  }
}

/**
 * What waits in a lane: keys take turns, and what has the same key goes in its order. Keys that had nothing waiting and the
 * others go alternately, so that a burst delays nobody who has little, and none waits forever (as in RFC 8290, 4.2).
 *
 *   key:   none waits -> new -> (taken, and has more) others -> none waits
 */

interface Entry<T> {
  /** Null: it was taken, and is not kept in memory by those that wait before it. */
  item: T | null;
  next: Entry<T> | null;
}

interface Turn<T> {
  readonly key: string;
  readonly entries: Linked<Entry<T>>;
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

/** Entries that were taken, before they are removed from the beginning of a list. */
const MIN_TAKEN = 1_024;

export class TurnQueue<T extends { readonly turn: string }> {
  readonly #turns = new Map<string, Turn<T>>();
  readonly #new = new Linked<Turn<T>>();
  readonly #others = new Linked<Turn<T>>();
  #newWasLast = false;
  /** In order; the first that was not taken is at #oldest. */
  readonly #entries: Entry<T>[] = [];
  #oldest = 0;
  length = 0;

  add(item: T): void {
    const entry: Entry<T> = { item, next: null };
    const turn = this.#turns.get(item.turn) ?? this.#begun(item.turn);
    turn.entries.push(entry);
    this.#entries.push(entry);
    this.length += 1;
  }

  /** The next to take. */
  get head(): T | undefined {
    return this.#list.first?.entries.first?.item ?? undefined;
  }

  /** Items from the oldest on, also those that were taken before it: by so many one is overtaken, if no more are added. */
  get span(): number {
    return this.#entries.length - this.#oldest;
  }

  /** The one that has waited longest. */
  get oldest(): T | undefined {
    return this.#entries[this.#oldest]?.item ?? undefined;
  }

  take(): T | undefined {
    const list = this.#list;
    const turn = list.shift();
    const entry = turn?.entries.shift();
    const item = entry?.item;
    if (!turn || !entry || !item) return undefined;
    this.#newWasLast = list === this.#new;
    if (turn.entries.first) this.#others.push(turn);
    else this.#turns.delete(turn.key);
    this.length -= 1;
    entry.item = null;
    this.#forgetTaken();
    return item;
  }

  get #list(): Linked<Turn<T>> {
    const isNew = this.#new.first !== null && (!this.#newWasLast || this.#others.first === null);
    return isNew ? this.#new : this.#others;
  }

  #begun(key: string): Turn<T> {
    const turn: Turn<T> = { key, entries: new Linked(), next: null };
    this.#turns.set(key, turn);
    this.#new.push(turn);
    return turn;
  }

  #forgetTaken(): void {
    while (this.#entries[this.#oldest]?.item === null) this.#oldest += 1;
    if (this.#oldest < MIN_TAKEN || 2 * this.#oldest < this.#entries.length) return;
    this.#entries.splice(0, this.#oldest);
    this.#oldest = 0;
  }
}

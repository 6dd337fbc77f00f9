/**
 * What waits in a lane: keys take turns, and what has the same key goes in its order. A key that had nothing waiting goes before
 * the others, by turns with them, so that a burst delays nobody who has little, and none waits forever (as in RFC 8290, 4.2).
 * What was passed over is a list of its own: two thousand of such keys hold up none that may go.
 *
 *   key:   none waits -> new -> (taken, and has more) others -> none waits
 *                         \-> (passed over) held <-/
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
  readonly #held = new Linked<Turn<T>>();
  /** The lists take turns, too: the first of these that is not empty. */
  #lists = [this.#new, this.#others, this.#held];
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
    return this.#list?.first?.entries.first?.item ?? undefined;
  }

  /** The one that has waited longest. */
  get oldest(): T | undefined {
    return this.#entries[this.#oldest]?.item ?? undefined;
  }

  take(): T | undefined {
    const list = this.#list;
    const turn = list?.shift();
    const entry = turn?.entries.shift();
    const item = entry?.item;
    if (!list || !turn || !entry || !item) return undefined;
    this.#putLast(list);
    if (turn.entries.first) this.#others.push(turn);
    else this.#turns.delete(turn.key);
    this.length -= 1;
    entry.item = null;
    this.#forgetTaken();
    return item;
  }

  /** The head's key waits for another turn. @returns false if no other key has anything waiting */
  passOver(): boolean {
    if (this.#turns.size < 2) return false;
    const list = this.#list;
    const turn = list?.shift();
    if (turn) this.#held.push(turn);
    if (list === this.#held) this.#putLast(list);
    return true;
  }

  get #list(): Linked<Turn<T>> | undefined {
    return this.#lists.find(({ first }) => first !== null);
  }

  #putLast(list: Linked<Turn<T>>): void {
    this.#lists = [...this.#lists.filter((one) => one !== list), list];
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

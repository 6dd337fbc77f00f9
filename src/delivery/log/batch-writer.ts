/**
 * Writes entries to the view in batched transactions. Entries that can't be stored are kept in order and retried.
 * Callers apply back-pressure by awaiting `add`.
 *
 *   empty -> gathering (BATCH_MS, or MOST_AT_ONCE) -> stored
 *                        \-> refused (the disk is full: TRY_AGAIN_MS) -> gathering
 */
import type { ViewEntry, ViewRouting } from '../../ports/deliveries-view.js';

const BATCH_MS = 50;
/** Entries, and what a record has more. Keeps one event-loop turn short. */
const MOST_AT_ONCE = 250;
const TRY_AGAIN_MS = 1_000;

interface Gathered {
  readonly entries: readonly (ViewEntry | ViewRouting)[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class BatchWriter {
  /** False if the entries can't be stored now. */
  readonly #store: (entries: readonly (ViewEntry | ViewRouting)[]) => boolean;
  #gathered: Gathered[] = [];
  /** Of the gathered entries. */
  #count = 0;
  #timer: NodeJS.Timeout | null = null;
  #refused = false;
  #closed = false;

  constructor(store: (entries: readonly (ViewEntry | ViewRouting)[]) => boolean) {
    this.#store = store;
  }

  /** Fulfilled once the entries of a record are stored; rejected if `close` came first. */
  add(entries: readonly (ViewEntry | ViewRouting)[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#gathered.push({ entries, resolve, reject });
      this.#count += entries.length;
      if (this.#closed) this.#rejectAll();
      else if (this.#count >= MOST_AT_ONCE && !this.#refused) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
    });
  }

  /** Stores the pending entries, or rejects them if that fails. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    while (this.#gathered.length > 0 && this.#stored());
    this.#stopTimer();
    this.#rejectAll();
  }

  #flush(): void {
    this.#stopTimer();
    this.#refused = !this.#stored();
    if (this.#gathered.length > 0) {
      this.#timer = setTimeout(() => this.#flush(), this.#refused ? TRY_AGAIN_MS : 0);
    }
  }

  #stored(): boolean {
    const batch = this.#firstBatch();
    const entries = batch.flatMap((one) => one.entries);
    if (!this.#store(entries)) return false;
    this.#gathered.splice(0, batch.length);
    this.#count -= entries.length;
    for (const { resolve } of batch) resolve();
    return true;
  }

  /** Up to the record that reaches MOST_AT_ONCE. */
  #firstBatch(): readonly Gathered[] {
    let count = 0;
    const last = this.#gathered.findIndex(({ entries }) => {
      count += entries.length;
      return count >= MOST_AT_ONCE;
    });
    return last < 0 ? [...this.#gathered] : this.#gathered.slice(0, last + 1);
  }

  #rejectAll(): void {
    for (const { reject } of this.#gathered.splice(0)) reject(new Error('the view is not filled any more'));
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

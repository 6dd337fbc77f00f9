/** The values that were used last; and all that are pinned, which do not count. */
export class RecentlyUsed<Value> {
  /** Ordered by their last use. */
  readonly #values = new Map<string, Value>();
  readonly #most: number;
  readonly #isPinned: (value: Value) => boolean;

  constructor(most: number, isPinned: (value: Value) => boolean) {
    this.#most = most;
    this.#isPinned = isPinned;
  }

  of(key: string, make: () => Value): Value {
    const known = this.#values.get(key);
    const value = known ?? make();
    this.#values.delete(key);
    this.#values.set(key, value);
    if (known === undefined) this.#dropOldest();
    return value;
  }

  #dropOldest(): void {
    const unpinned = [...this.#values].filter(([, value]) => !this.#isPinned(value));
    for (const [key] of unpinned.slice(0, -this.#most)) this.#values.delete(key);
  }
}

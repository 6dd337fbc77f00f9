/** A binary heap: `first` is before all others. */
export class Heap<T> {
  /** Negative: the one is before the other. */
  readonly #order: (one: T, other: T) => number;
  #all: T[] = [];

  constructor(order: (one: T, other: T) => number) {
    this.#order = order;
  }

  get size(): number {
    return this.#all.length;
  }

  get first(): T | undefined {
    return this.#all[0];
  }

  push(one: T): void {
    let at = this.#all.push(one) - 1;
    for (let up = (at - 1) >> 1; at > 0 && this.#isBefore(at, up); up = (at - 1) >> 1) {
      this.#swap(at, up);
      at = up;
    }
  }

  removeFirst(): void {
    const all = this.#all;
    this.#swap(0, all.length - 1);
    all.pop();
    let at = 0;
    for (let down = 1; down < all.length; down = 2 * at + 1) {
      if (down + 1 < all.length && this.#isBefore(down + 1, down)) down += 1;
      if (!this.#isBefore(down, at)) return;
      this.#swap(at, down);
      at = down;
    }
  }

  /** These, and none else. Sorted, an array is a heap. */
  fill(all: T[]): void {
    this.#all = all.sort(this.#order);
  }

  #isBefore(one: number, other: number): boolean {
    return this.#order(this.#all[one] as T, this.#all[other] as T) < 0;
  }

  #swap(one: number, other: number): void {
    const all = this.#all;
    [all[one], all[other]] = [all[other] as T, all[one] as T];
  }
}

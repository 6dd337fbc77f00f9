/** What is due, the first first: a binary heap. */

export interface Due {
  readonly at: number;
  /** Of two that are due at once, the one with the lower number is first. */
  readonly number: number;
}

export class DueHeap<T extends Due> {
  readonly #heap: T[] = [];

  get first(): T | undefined {
    return this.#heap[0];
  }

  push(due: T): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (!parent || isBefore(parent, due)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = due;
  }

  removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      const other = heap[childAt + 1];
      if (child && other && isBefore(other, child)) [child, childAt] = [other, childAt + 1];
      if (!child || !isBefore(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}

/**
 * Tracks what of a partition is done: records are handed out in the order of their offsets (gaps are normal) and end in
 * any order; only the contiguous done prefix may be remembered for the group.
 */
export class DonePrefix {
  readonly #handedOut: number[] = [];
  readonly #done = new Set<number>();
  #head = 0;
  #next: number;

  /** @param next the offset the group stands at: everything before it is done */
  constructor(next: number) {
    this.#next = next;
  }

  /** The offset to remember: everything before it is done. */
  get next(): number {
    return this.#next;
  }

  /** True where all that was handed out is done. */
  get nothingOutstanding(): boolean {
    return this.#head === this.#handedOut.length;
  }

  handOut(offset: number): void {
    this.#handedOut.push(offset);
  }

  done(offset: number): void {
    this.#done.add(offset);
    for (let first = this.#first(); first !== undefined && this.#done.delete(first); first = this.#first()) {
      this.#next = first + 1;
      this.#head += 1;
    }
    this.#compact();
  }

  #first(): number | undefined {
    return this.#handedOut[this.#head];
  }

  #compact(): void {
    if (this.#head < 1024) return;
    this.#handedOut.splice(0, this.#head);
    this.#head = 0;
  }
}

/**
 * Tracks what of a partition is done: records are handed out in the order of their offsets (gaps are normal) and end in
 * any order; only the contiguous done prefix may be remembered for the group.
 */

/** What is done behind the prefix: whole records by their offsets, and parts of those that are not done. */
export interface DoneBehind {
  readonly records: ReadonlySet<number>;
  readonly parts: ReadonlyMap<number, ReadonlySet<number>>;
}

export class DonePrefix {
  readonly #handedOut: number[] = [];
  readonly #done: Set<number>;
  readonly #parts: Map<number, Set<number>>;
  #head = 0;
  #next: number;

  /**
   * @param next the offset the group stands at: everything before it is done
   * @param behind what is done behind it already; those records are never handed out
   */
  constructor(next: number, behind?: DoneBehind) {
    this.#next = next;
    this.#done = new Set(behind?.records);
    this.#parts = new Map(behind && [...behind.parts].map(([offset, parts]) => [offset, new Set(parts)]));
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

  get behind(): DoneBehind {
    return { records: this.#done, parts: this.#parts };
  }

  isPartDone(offset: number, part: number): boolean {
    return this.#parts.get(offset)?.has(part) ?? false;
  }

  partDone(offset: number, part: number): void {
    const parts = this.#parts.get(offset) ?? new Set();
    this.#parts.set(offset, parts.add(part));
  }

  done(offset: number): void {
    this.#parts.delete(offset);
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

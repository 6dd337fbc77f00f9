/**
 * Tracks which records of a partition are done: they are handed out in offset order (gaps are normal) and finish in any
 * order; only the contiguous done prefix may be committed for the group.
 */

/** Work done behind the prefix: whole records by offset, and parts of unfinished records. */
export interface DoneBehind {
  readonly records: ReadonlySet<number>;
  readonly parts: ReadonlyMap<number, ReadonlySet<number>>;
}

/**
 * At so many records from the first unfinished one on, no more are handed out: 42 MB. Hazard: a dead letter that its topic
 * refuses may hold the first one for days; a Set takes 16.7 million, and a crash would have all of them done twice.
 */
export const MOST_BEHIND = 1_000_000;

export class DonePrefix {
  readonly #handedOut: number[] = [];
  readonly #done: Set<number>;
  /** Done before this consumer began, and not handed out yet. */
  readonly #known: Set<number>;
  readonly #parts: Map<number, Set<number>>;
  #head = 0;
  #next: number;

  /**
   * @param next the group's committed offset: everything before it is done
   * @param behind work already done behind it; call passKnown for each record at the head
   */
  constructor(next: number, behind?: DoneBehind) {
    this.#next = next;
    this.#done = new Set(behind?.records);
    this.#known = new Set(behind?.records);
    this.#parts = new Map(behind && [...behind.parts].map(([offset, parts]) => [offset, new Set(parts)]));
  }

  /** The offset to commit: everything before it is done. */
  get next(): number {
    return this.#next;
  }

  /** True if everything handed out is done. */
  get nothingOutstanding(): boolean {
    return this.#head === this.#handedOut.length;
  }

  get isFull(): boolean {
    return this.#handedOut.length - this.#head >= MOST_BEHIND;
  }

  handOut(offset: number): void {
    this.#handedOut.push(offset);
  }

  /** Instead of handOut, for a record that was done before. @returns false for any other */
  passKnown(offset: number): boolean {
    if (!this.#known.delete(offset)) return false;
    this.handOut(offset);
    this.done(offset);
    return true;
  }

  get behind(): DoneBehind {
    return { records: this.#done, parts: this.#parts };
  }

  get behindSize(): number {
    return this.#done.size + this.#parts.size;
  }

  get handedOutEnd(): number {
    return (this.#handedOut.at(-1) ?? -1) + 1;
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

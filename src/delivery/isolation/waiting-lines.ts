/**
 * The lines before the endpoints, bounded one by one and all together, in places and in bytes. Where all together are
 * long, or hold many bytes, each may only have its fair share.
 */
export interface Waiting {
  /** What is held in memory while it waits. */
  readonly bytes: number;
}

interface Share {
  readonly each: number;
  /** Of all lines; from there on fair shares count. Well below what the dispatcher has in flight. */
  readonly all: number;
}

/** Takes a burst of 1,000 events at once with room to spare. */
const PLACES: Share = { each: 2_000, all: 7_500 };
/** The same for events of 16 KiB. */
const BYTES: Share = { each: 16 * 1024 * 1024, all: 32 * 1024 * 1024 };

export class Line<W extends Waiting> {
  readonly #lines: WaitingLines;
  readonly #waiting: W[] = [];
  #bytes = 0;

  constructor(lines: WaitingLines) {
    this.#lines = lines;
  }

  get length(): number {
    return this.#waiting.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get first(): W | undefined {
    return this.#waiting[0];
  }

  /** @param lines how many lines there are, this one included */
  isFull(lines: number): boolean {
    const { places, bytes } = this.#lines.most(lines);
    return this.length >= places || this.#bytes >= bytes;
  }

  push(one: W): void {
    this.#waiting.push(one);
    this.#count(1, one.bytes);
  }

  shift(): W | undefined {
    const one = this.#waiting.shift();
    if (one) this.#count(-1, -one.bytes);
    return one;
  }

  /** Those who wait, who still count in all lines: whoever takes them over counts them out, one by one. */
  takeAll(): W[] {
    this.#bytes = 0;
    return this.#waiting.splice(0);
  }

  #count(places: number, bytes: number): void {
    this.#bytes += bytes;
    this.#lines.count(places, bytes);
  }
}

/** What all lines have in common. */
export class WaitingLines {
  #places = 0;
  #bytes = 0;

  count(places: number, bytes: number): void {
    this.#places += places;
    this.#bytes += bytes;
  }

  get all(): { readonly places: number; readonly bytes: number } {
    return { places: this.#places, bytes: this.#bytes };
  }

  /** What one of so many lines may have now. */
  most(lines: number): { readonly places: number; readonly bytes: number } {
    return { places: mostOf(PLACES, this.#places, lines), bytes: mostOf(BYTES, this.#bytes, lines) };
  }
}

function mostOf({ each, all }: Share, waiting: number, lines: number): number {
  return waiting < all ? each : Math.min(each, Math.ceil(all / lines));
}

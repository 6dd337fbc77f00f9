/** What is added to for every delivery: numbers, and nothing else, until somebody asks. */

export class Count {
  #value = 0;

  inc(): void {
    this.#value += 1;
  }

  get value(): number {
    return this.#value;
  }
}

/** Values by the buckets they fall into. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** One more than there are bounds: what is above them all. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds ascending; a value that is equal to one counts to it */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  get sum(): number {
    return this.#sum;
  }

  /** How many are at or below each bound; the last is all of them. */
  get cumulative(): readonly { readonly le: number | '+Inf'; readonly count: number }[] {
    let count = 0;
    return this.#counts.map((own, bucket) => {
      count += own;
      return { le: this.#bounds[bucket] ?? '+Inf', count };
    });
  }
}

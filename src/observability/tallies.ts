/** Counters updated for every delivery: plain numbers until a scrape. */

export class Count {
  #value = 0;

  inc(): void {
    this.#value += 1;
  }

  get value(): number {
    return this.#value;
  }
}

/** Values by bucket. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** One more than the bounds: the last one is for values above all of them. */
  readonly #counts: number[];
  #sum = 0;

  /** @param bounds ascending and inclusive */
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

  /** Number of values at or below each bound; the last is the total. */
  get cumulative(): readonly { readonly le: number | '+Inf'; readonly count: number }[] {
    let count = 0;
    return this.#counts.map((own, bucket) => {
      count += own;
      return { le: this.#bounds[bucket] ?? '+Inf', count };
    });
  }
}

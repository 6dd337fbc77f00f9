/** The text of /metrics (https://prometheus.io/docs/instrumenting/exposition_formats/), from a table of metrics. */

/** A value, then its label values. */
export type Sample = readonly [value: number, ...labels: string[]];

/** @typeParam W what the samples of a scrape are taken from */
export type Metric<W> = {
  readonly labels: readonly string[];
  /** Sentences in Markdown, for the help and for docs/operations.md. */
  readonly says: string;
} & (
  | { readonly type: 'counter' | 'gauge'; readonly look: (watched: W) => Iterable<Sample> }
  /** Counted by the parts. @see Exposition.count */
  | { readonly type: 'counter' }
  /** `bounds` are ascending and inclusive. @see Exposition.distribution */
  | { readonly type: 'histogram'; readonly bounds: readonly number[] }
);

interface Tally {
  lines(name: string, labels: string): readonly string[];
}

export class Exposition<N extends string, W> {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #table: Readonly<Record<N, Metric<W>>>;
  readonly #tallies = new Map<string, (() => readonly string[])[]>();

  constructor(table: Readonly<Record<N, Metric<W>>>) {
    this.#table = table;
  }

  /** Creates the counter of these label values, starting at 0. Call once per label set, not per increment. */
  count(name: N, ...labels: string[]): Count {
    return this.#tallied(name, labels, new Count());
  }

  /** Creates the histogram of these label values. */
  distribution(name: N, ...labels: string[]): Distribution {
    const metric = this.#table[name];
    return this.#tallied(name, labels, new Distribution('bounds' in metric ? metric.bounds : []));
  }

  text(watched: W): string {
    const metrics = Object.entries<Metric<W>>(this.#table).map(([name, metric]) => {
      const head = [`# HELP ${name} ${escaped(metric.says.replaceAll('`', ''))}`, `# TYPE ${name} ${metric.type}`];
      const tallied = (this.#tallies.get(name) ?? []).flatMap((lines) => lines());
      return [...head, ...tallied, ...sampled(name, metric, watched)].join('\n');
    });
    return `${metrics.join('\n\n')}\n`;
  }

  #tallied<T extends Tally>(name: N, values: readonly string[], tally: T): T {
    const labels = labelsText(this.#table[name].labels, values);
    const all = this.#tallies.get(name) ?? [];
    this.#tallies.set(name, [...all, () => tally.lines(name, labels)]);
    return tally;
  }
}

/** A plain number until a scrape: counted for every delivery. */
export class Count {
  #value = 0;

  inc(): void {
    this.#value += 1;
  }

  lines(name: string, labels: string): readonly string[] {
    return [line(name, labels, this.#value)];
  }
}

/** Values by bucket. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** One more than the bounds: the last one is for values above all of them. */
  readonly #counts: number[];
  #sum = 0;

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

  /** A bucket counts the values at or below its bound, so the last one counts all. */
  lines(name: string, labels: string): readonly string[] {
    let count = 0;
    const buckets = this.#counts.map((own, bucket) => {
      count += own;
      const bound = labelsText(['le'], [String(this.#bounds[bucket] ?? '+Inf')]);
      return line(`${name}_bucket`, [bound, labels].filter(Boolean).join(), count);
    });
    return [...buckets, line(`${name}_sum`, labels, this.#sum), line(`${name}_count`, labels, count)];
  }
}

/**
 * A failing look leaves its metric without values and does not affect the others. If two samples have the same labels, the
 * later one wins: Prometheus would refuse the whole scrape.
 */
function sampled<W>(name: string, metric: Metric<W>, watched: W): Iterable<string> {
  if (!('look' in metric)) return [];
  try {
    const samples = [...metric.look(watched)].map(
      ([value, ...values]) => [labelsText(metric.labels, values), value] as const,
    );
    return [...new Map(samples)].map(([labels, value]) => line(name, labels, value));
  } catch {
    return [];
  }
}

function labelsText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '').replaceAll('"', '\\"')}"`).join();
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels && `{${labels}}`} ${String(value).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf')}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

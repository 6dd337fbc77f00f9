/**
 * The content of /metrics: metrics by name, each counted, observed or sampled, in the text format of Prometheus
 * (https://prometheus.io/docs/instrumenting/exposition_formats/).
 */

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

type Labels = Readonly<Record<string, string>>;

interface Series {
  /** The metric's name; for a histogram with the suffix _bucket, _sum or _count. */
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** A value, then its label values. */
export type Sample = readonly [value: number, ...labels: string[]];

interface Tally {
  series(name: string, labels: Labels): readonly Series[];
}

export class Exposition {
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #metrics: (() => string)[] = [];

  text(): string {
    return `${this.#metrics.map((text) => text()).join('\n\n')}\n`;
  }

  /** Creates the counter of these label values, starting at 0. Call once per label set, not per increment. */
  counter(name: string, help: string, labels: readonly string[] = []): (...values: string[]) => Count {
    return this.#tallied({ name, help, type: 'counter' }, labels, () => new Count());
  }

  /** Creates the histogram of these label values. */
  histogram(name: string, help: string, bounds: readonly number[], labels: readonly string[] = []) {
    return this.#tallied({ name, help, type: 'histogram' }, labels, () => new Distribution(bounds));
  }

  /** Sampled on each scrape. A failing sample leaves its metric without values and does not affect the others. */
  gauge(name: string, help: string, labels: readonly string[], look: () => Iterable<Sample>): void {
    this.#metrics.push(() => metricText({ name, help, type: 'gauge' }, sampled(name, labels, look)));
  }

  /** The same for a value that only grows. */
  growing(name: string, help: string, labels: readonly string[], look: () => Iterable<Sample>): void {
    this.#metrics.push(() => metricText({ name, help, type: 'counter' }, sampled(name, labels, look)));
  }

  #tallied<T extends Tally>(metric: Metric, labels: readonly string[], make: () => T): (...values: string[]) => T {
    const made: { readonly labels: Labels; readonly tally: T }[] = [];
    this.#metrics.push(() => {
      const series = made.flatMap(({ labels: own, tally }) => tally.series(metric.name, own));
      return metricText(metric, series);
    });
    return (...values) => {
      const tally = make();
      made.push({ labels: labelled(labels, values), tally });
      return tally;
    };
  }
}

/** A plain number until a scrape: counted for every delivery. */
export class Count {
  #value = 0;

  inc(): void {
    this.#value += 1;
  }

  series(name: string, labels: Labels): readonly Series[] {
    return [{ name, labels, value: this.#value }];
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

  /** A bucket counts the values at or below its bound, so the last one counts all. */
  series(name: string, labels: Labels): readonly Series[] {
    let count = 0;
    const buckets = this.#counts.map((own, bucket) => {
      count += own;
      return {
        name: `${name}_bucket`,
        labels: { le: String(this.#bounds[bucket] ?? '+Inf'), ...labels },
        value: count,
      };
    });
    return [
      ...buckets,
      { name: `${name}_sum`, labels, value: this.#sum },
      { name: `${name}_count`, labels, value: count },
    ];
  }
}

function labelled(names: readonly string[], values: readonly string[]): Labels {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

/** If two samples have the same labels, the later one wins: Prometheus would refuse the whole scrape. */
function sampled(name: string, labels: readonly string[], look: () => Iterable<Sample>): readonly Series[] {
  const byLabels = new Map<string, Series>();
  try {
    for (const [value, ...values] of look())
      byLabels.set(JSON.stringify(values), { name, labels: labelled(labels, values), value });
  } catch {
    return [];
  }
  return [...byLabels.values()];
}

/** Without a trailing newline. A metric may have no series. */
function metricText({ name, help, type }: Metric, series: readonly Series[]): string {
  return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...series.map(seriesText)].join('\n');
}

function seriesText({ name, labels, value }: Series): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join()}}` : ''} ${numberText(value)}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

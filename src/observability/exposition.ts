/** prom-client, and the only place that knows it: metrics by name, with what is counted, observed or looked at. */
import { Counter, Gauge, type Histogram, Registry } from 'prom-client';
import { Count, Distribution } from './tallies.js';

export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A value, and those of its labels. */
export type Sample = readonly [value: number, ...labels: string[]];

interface Made<T> {
  readonly labels: Readonly<Record<string, string>>;
  readonly tally: T;
}

export class Exposition {
  readonly #registry = new Registry();

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** Makes what counts under these label values, from 0 on: once, not each time. */
  counter(described: Described): (...labels: string[]) => Count {
    const made: Made<Count>[] = [];
    this.growing(described, () => made.map(({ labels, tally }) => [tally.value, ...Object.values(labels)]));
    return (...values) => put(made, labelled(described, values), new Count());
  }

  /**
   * Makes what observes under these label values. prom-client's own histogram looks its labels up at each value: measured
   * 1 us, where this is a few ns.
   */
  histogram(described: Described, bounds: readonly number[]): (...labels: string[]) => Distribution {
    const made: Made<Distribution>[] = [];
    const { name, help } = described;
    const get = async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: made.flatMap(valuesOf(name)),
    });
    // All that a registry asks of a metric.
    this.#registry.registerMetric({ name, help, get } as unknown as Histogram);
    return (...values) => put(made, labelled(described, values), new Distribution(bounds));
  }

  /** Looked at when somebody asks. A look that fails leaves its metric without values, and the others as they are. */
  gauge(described: Described, look: () => Iterable<Sample>): void {
    new Gauge({
      ...this.#options(described),
      collect() {
        emptied(this, described);
        for (const [value, ...labels] of looked(look)) this.labels(...labels).set(value);
      },
    });
  }

  /** The same for what only grows. */
  growing(described: Described, look: () => Iterable<Sample>): void {
    new Counter({
      ...this.#options(described),
      collect() {
        emptied(this, described);
        for (const [value, ...labels] of looked(look)) this.labels(...labels).inc(value);
      },
    });
  }

  #options({ name, help, labels = [] }: Described) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

function labelled({ labels = [] }: Described, values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(labels.map((name, index) => [name, values[index] ?? '']));
}

function put<T>(made: Made<T>[], labels: Made<T>['labels'], tally: T): T {
  made.push({ labels, tally });
  return tally;
}

function valuesOf(name: string) {
  return ({ labels, tally }: Made<Distribution>) => {
    const { cumulative, sum } = tally;
    return [
      ...cumulative.map(({ le, count }) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: count })),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: cumulative.at(-1)?.count ?? 0 },
    ];
  };
}

/** What has no labels is 0 after a reset: a number that nobody has looked at. */
function emptied(metric: Pick<Gauge, 'reset' | 'remove'>, { labels = [] }: Described): void {
  metric.reset();
  if (labels.length === 0) metric.remove({});
}

function looked(look: () => Iterable<Sample>): readonly Sample[] {
  try {
    return [...look()];
  } catch {
    return [];
  }
}

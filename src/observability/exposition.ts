/** The content of /metrics: metrics by name, each counted, observed or sampled. */
import { CONTENT_TYPE, type Metric, metricText, type Series } from './exposition-format.js';
import { Count, Distribution } from './tallies.js';

export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A value, then its label values. */
export type Sample = readonly [value: number, ...labels: string[]];

interface Made<T> {
  readonly labels: Series['labels'];
  readonly tally: T;
}

export class Exposition {
  readonly contentType = CONTENT_TYPE;
  readonly #metrics: (() => string)[] = [];

  text(): string {
    return `${this.#metrics.map((text) => text()).join('\n\n')}\n`;
  }

  /** Creates the counter of these label values, starting at 0. Call once per label set, not per increment. */
  counter(described: Described): (...labels: string[]) => Count {
    const made: Made<Count>[] = [];
    const { name } = described;
    this.#add(described, 'counter', () => made.map(({ labels, tally }) => ({ name, labels, value: tally.value })));
    return (...values) => put(made, labelled(described, values), new Count());
  }

  /** Creates the histogram of these label values. */
  histogram(described: Described, bounds: readonly number[]): (...labels: string[]) => Distribution {
    const made: Made<Distribution>[] = [];
    this.#add(described, 'histogram', () => made.flatMap((one) => seriesOf(described.name, one)));
    return (...values) => put(made, labelled(described, values), new Distribution(bounds));
  }

  /** Sampled on each scrape. A failing sample leaves its metric without values and does not affect the others. */
  gauge(described: Described, look: () => Iterable<Sample>): void {
    this.#add(described, 'gauge', () => looked(described, look));
  }

  /** The same for a value that only grows. */
  growing(described: Described, look: () => Iterable<Sample>): void {
    this.#add(described, 'counter', () => looked(described, look));
  }

  #add({ name, help }: Described, type: Metric['type'], series: () => readonly Series[]): void {
    this.#metrics.push(() => metricText({ name, help, type }, series()));
  }
}

function labelled({ labels = [] }: Described, values: readonly string[]): Series['labels'] {
  return Object.fromEntries(labels.map((name, index) => [name, values[index] ?? '']));
}

function put<T>(made: Made<T>[], labels: Made<T>['labels'], tally: T): T {
  made.push({ labels, tally });
  return tally;
}

function seriesOf(name: string, { labels, tally }: Made<Distribution>): readonly Series[] {
  const { cumulative, sum } = tally;
  return [
    ...cumulative.map(({ le, count }) => ({
      name: `${name}_bucket`,
      labels: { le: String(le), ...labels },
      value: count,
    })),
    { name: `${name}_sum`, labels, value: sum },
    { name: `${name}_count`, labels, value: cumulative.at(-1)?.count ?? 0 },
  ];
}

/** If two samples have the same labels, the later one wins: Prometheus would refuse the whole scrape. */
function looked(described: Described, look: () => Iterable<Sample>): readonly Series[] {
  const byLabels = new Map<string, Series>();
  try {
    for (const [value, ...values] of look())
      byLabels.set(JSON.stringify(values), { name: described.name, labels: labelled(described, values), value });
  } catch {
    return [];
  }
  return [...byLabels.values()];
}

/** All of /metrics: metrics by name, with what is counted, observed or looked at. */
import { CONTENT_TYPE, type Metric, metricText, type Series } from './exposition-format.js';
import { Count, Distribution } from './tallies.js';

export interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** A value, and those of its labels. */
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

  /** Makes what counts under these label values, from 0 on: once, not each time. */
  counter(described: Described): (...labels: string[]) => Count {
    const made: Made<Count>[] = [];
    const { name } = described;
    this.#add(described, 'counter', () => made.map(({ labels, tally }) => ({ name, labels, value: tally.value })));
    return (...values) => put(made, labelled(described, values), new Count());
  }

  /** Makes what observes under these label values. */
  histogram(described: Described, bounds: readonly number[]): (...labels: string[]) => Distribution {
    const made: Made<Distribution>[] = [];
    this.#add(described, 'histogram', () => made.flatMap((one) => seriesOf(described.name, one)));
    return (...values) => put(made, labelled(described, values), new Distribution(bounds));
  }

  /** Looked at when somebody asks. A look that fails leaves its metric without values, and the others as they are. */
  gauge(described: Described, look: () => Iterable<Sample>): void {
    this.#add(described, 'gauge', () => looked(described, look));
  }

  /** The same for what only grows. */
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

/** Of two samples with the same labels the later one is told: Prometheus refuses all of a scrape that has both. */
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

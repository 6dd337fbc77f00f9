/** /metrics as Prometheus reads it. */
export interface Scrape {
  /** Every metric by name, even without values. */
  readonly names: readonly string[];
  /** Every series, sorted: name and labels. */
  readonly series: readonly string[];
  /** The sum of the series of this name that have these labels; undefined if there are none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

interface Value {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function scrape(adminUrl: string): Promise<Scrape> {
  const response = await fetch(`${adminUrl}/metrics`);
  const type = response.headers.get('content-type') ?? '';
  if (response.status !== 200 || !type.startsWith('text/plain')) throw new Error(`${response.status} ${type}`);
  return parsed(await response.text());
}

function parsed(text: string): Scrape {
  const lines = text.split('\n');
  const values = lines.filter((line) => line !== '' && !line.startsWith('#')).map(sampleOf);
  return {
    names: lines.flatMap((line) => /^# TYPE (\w+) /.exec(line)?.[1] ?? []),
    series: values.map(({ name, labels }) => `${name}${JSON.stringify(labels)}`).sort(),
    value(name, labels = {}) {
      const wanted = Object.entries(labels);
      const found = values.filter((one) => one.name === name && wanted.every(([key, is]) => one.labels[key] === is));
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

/** @throws Error for a line that is not in the text format */
function sampleOf(line: string): Value {
  const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (!name || Number.isNaN(Number(value))) throw new Error(`not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', is = '']) => [key, is] as const);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}

/** The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
}

export interface Series {
  /** The metric's name; for a histogram with the suffix _bucket, _sum or _count. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Without a trailing newline. A metric may have no series. */
export function metricText({ name, help, type }: Metric, series: readonly Series[]): string {
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

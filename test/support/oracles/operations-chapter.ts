/** The promises of docs/operations.md, and the requirements of the files in ops/. */
import { readFileSync } from 'node:fs';
import { METRICS } from '../../../src/observability/metrics-table.js';

const FOLDER = new URL('../../../', import.meta.url);

export function fileOf(path: string): string {
  return readFileSync(new URL(path, FOLDER), 'utf8');
}

/** As docs/operations.md has them. */
export function documentedMetrics(): string[] {
  return Object.keys(METRICS);
}

/** Names of metrics in expressions; `up` is Prometheus' own. */
export function metricsIn(text: string): string[] {
  return [...new Set([...text.matchAll(/\b(?:account_webhooks|process|nodejs)_\w+/g)].map(([name]) => name))];
}

/** The metric of a series: a histogram's series have suffixes. */
export function metricOf(series: string, metrics: readonly string[]): string | undefined {
  const bare = series.replace(/_(bucket|sum|count)$/, '');
  return metrics.find((name) => name === series) ?? metrics.find((name) => name === bare);
}

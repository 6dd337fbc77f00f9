import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { METRICS } from '../../src/observability/metrics-table.js';
import { fileOf } from '../support/oracles/file-of.js';

const RULES = fileOf('ops/prometheus-alerts.yml');
const OPS = fileURLToPath(new URL('../../ops/', import.meta.url));

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const panels = (JSON.parse(fileOf('ops/grafana-dashboard.json')) as { panels: Panel[] }).panels;
const asked = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Each alert with what is said of it, as text. */
const alerts = RULES.split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({ name: text.split('\n')[0] ?? '', text }));

/** Names of metrics in expressions; `up` is Prometheus' own. */
const metricsIn = (text: string) => [...new Set(text.match(/\b(?:account_webhooks|process|nodejs)_\w+/g))];
/** That these are exposed, and no others, test/e2e/metrics.test.ts sees. A histogram's series have suffixes. */
const isMetric = (series: string) => series in METRICS || series.replace(/_(bucket|sum|count)$/, '') in METRICS;
const unknown = (text: string) => metricsIn(text).filter((name) => !isMetric(name));

test('the alerts and the dashboard ask for metrics that there are', () => {
  const expressions = alerts.map(({ text }) => text.replace(/annotations:[\s\S]*/, '')).join('\n');
  expect(metricsIn(expressions).length).toBeGreaterThan(10);
  expect(unknown(expressions)).toEqual([]);
  expect(metricsIn(asked.join('\n')).length).toBeGreaterThan(20);
  expect(unknown(asked.join('\n'))).toEqual([]);
});

describe('promtool', () => {
  const promtool = (...args: string[]) => spawnSync('promtool', args, { cwd: OPS, encoding: 'utf8' });
  const isThere = promtool('--version').status === 0;
  const files = [
    ['check', 'rules', 'prometheus-alerts.yml'],
    ['test', 'rules', 'prometheus-alerts.test.yml'],
  ];

  if (isThere) {
    test.each(files)('%s %s %s', (...args) => {
      expect(promtool(...args)).toMatchObject({ status: 0 });
    });
  } else test.skip('IS NOT THERE: the alert rules are not checked; install Prometheus', () => undefined);
});

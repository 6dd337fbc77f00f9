import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { withMetrics } from '../../scripts/metrics-markdown.js';
import { documentedMetrics, fileOf, metricOf, metricsIn } from '../support/operations-chapter.js';

const RULES = fileOf('ops/prometheus-alerts.yml');
const CHAPTER = fileOf('docs/operations.md');
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

/** That these are exposed, and no others, test/e2e/metrics.test.ts sees. */
const metrics = documentedMetrics();
const unknown = (text: string) => metricsIn(text).filter((name) => metricOf(name, metrics) === undefined);

test('docs/operations.md has the table that make metrics-document writes', () => {
  expect(CHAPTER).toBe(withMetrics(CHAPTER));
  for (const name of metrics) expect(CHAPTER).toContain(`\n| \`${name}\` |`);
});

test('the alerts and the dashboard ask for metrics that there are', () => {
  const expressions = alerts.map(({ text }) => text.replace(/annotations:[\s\S]*/, '')).join('\n');
  expect(metricsIn(expressions).length).toBeGreaterThan(10);
  expect(unknown(expressions)).toEqual([]);
  expect(metricsIn(asked.join('\n')).length).toBeGreaterThan(20);
  expect(unknown(asked.join('\n'))).toEqual([]);
});

test('every metric of our own that is no matter of one process is on the dashboard', () => {
  const shown = new Set(metricsIn(asked.join('\n')).map((name) => metricOf(name, metrics)));
  const left = metrics.filter((name) => name.startsWith('account_webhooks_') && !shown.has(name));
  expect(left).toEqual([]);
});

test('each alert has a chapter that says what to do, and each chapter its alert', () => {
  const chapters = [...CHAPTER.matchAll(/^### (AccountWebhooks\w+)$/gm)].map(([, name]) => name);
  expect(alerts.map(({ name }) => name)).toEqual(chapters);
  for (const { name, text } of alerts) {
    expect(text).toContain(`runbook: docs/operations.md#${name.toLowerCase()}\n`);
    for (const said of ['severity: ', 'summary: ', 'description: ']) expect(text).toContain(said);
  }
});

test('a number in an alert has its unit, or is a whole one', () => {
  const shown = [...RULES.matchAll(/\{\{ ([^}]*\$value[^}]*) \}\}/g)].map(([, expression]) => expression);
  expect(shown.length).toBeGreaterThan(10);
  const good = ['printf "%.0f" $value', ...['Duration', 'Percentage', '1024'].map((as) => `$value | humanize${as}`)];
  expect(shown.filter((expression = '') => !good.includes(expression))).toEqual([]);
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

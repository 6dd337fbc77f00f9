import { startAdminServer } from '../../src/observability/admin-server.js';
import { createMetrics } from '../../src/observability/metrics.js';
import { Readiness } from '../../src/observability/readiness.js';
import type { ConsumerState } from '../../src/ports/broker.js';
import { scrape } from '../support/clients/scrape.js';
import { fileOf } from '../support/oracles/file-of.js';

const gone = () => {
  throw new Error('gone');
};
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function exposed() {
  const labels = { eventTypes: ['cash_in'], failureCodes: ['dns'] };
  const metrics = createMetrics({ ...labels, version: '1.2.3', roles: ['api'] });
  const admin = await startAdminServer('127.0.0.1', 0, { readiness: new Readiness(), metrics });
  cleanups.push(
    () => admin.close(),
    () => metrics.close(),
  );
  return { metrics, scraped: () => scrape(`http://127.0.0.1:${admin.port}`) };
}

test('each part is sampled once for a scrape, and again for the next', async () => {
  const { metrics, scraped } = await exposed();
  const asked: string[] = [];
  const state: ConsumerState = { connected: true, inHand: 0, partitions: [] };
  metrics.watched.consumers.set('payments', () => {
    asked.push('payments');
    return state;
  });
  metrics.watched.dispatcher = {
    tierOf: String,
    sample: () => {
      asked.push('dispatcher');
      return { active: 0, waiting: 0, breakersOpen: 0, consumptionPaused: false, unconfirmedMs: 0, unreadTiers: [] };
    },
  };
  metrics.watched.readModel = {
    projections: ['p'],
    sample: () => {
      asked.push('read model');
      return { behindMs: 0, unreadableAccounts: 0 };
    },
  };
  for (const _ of [1, 2]) {
    await scraped();
    expect(asked.splice(0).toSorted()).toEqual(['dispatcher', 'payments', 'read model']);
  }
});

test('what strangers write has no series of its own', async () => {
  const { metrics, scraped } = await exposed();
  const before = await scraped();
  metrics.delivery.came('delivered', 'written by somebody');
  metrics.delivery.attempted({ status: null, error: 'never heard of', durationMs: 1 });
  metrics.delivery.attempted({ status: 777, error: null, durationMs: 1 });
  const after = await scraped();
  expect(after.series).toEqual(before.series);
  expect(after.value('account_webhooks_deliveries_total', { event_type: 'other' })).toBe(1);
  expect(after.value('account_webhooks_attempt_duration_seconds_count', { result: 'other' })).toBe(2);
});

test('times are in seconds; a clock that is ahead makes no time negative', async () => {
  const { metrics, scraped } = await exposed();
  metrics.delivery.attempted({ status: 200, error: null, durationMs: 1_500 });
  metrics.delivery.delivered(2_000, false, 'cash_in');
  metrics.delivery.delivered(-3_600_000, true, 'cash_in');
  const found = await scraped();
  expect(found.value('account_webhooks_attempt_duration_seconds_sum', { result: '2xx' })).toBe(1.5);
  expect(found.value('account_webhooks_event_to_delivery_seconds_sum', { path: 'direct', event_type: 'cash_in' })).toBe(
    2,
  );
  expect(
    found.value('account_webhooks_event_to_delivery_seconds_sum', { path: 'retried', event_type: 'cash_in' }),
  ).toBe(0);
});

test('tiers are summed over their partitions, and the most overdue counts', async () => {
  const { metrics, scraped } = await exposed();
  const partition = (number: number, behind: number) => {
    const head = { publishedAt: null, overdueMs: number * 1_000 };
    return { topic: 'own.webhooks.retry.5m', partition: number, behind, head, unreadable: null };
  };
  const sample: ConsumerState = {
    connected: true,
    inHand: 3,
    partitions: [partition(0, 3), partition(1, 5), partition(2, 1)],
  };
  metrics.watched.consumers.set('retries', () => sample);
  metrics.watched.dispatcher = { tierOf: () => '5m', sample: gone };
  const found = await scraped();
  const tier = { tier: '5m' };
  expect(found.value('account_webhooks_retry_tier_records', tier)).toBe(9);
  expect(found.value('account_webhooks_retry_tier_overdue_seconds', tier)).toBe(2);
  expect(found.value('account_webhooks_consumer_lag_records', { partition: '1' })).toBe(5);
});

test('the records of a tier that the dispatcher does not read are a metric', async () => {
  const { metrics, scraped } = await exposed();
  const sample = () => ({
    ...{ active: 0, waiting: 0, breakersOpen: 0, consumptionPaused: false, unconfirmedMs: 0 },
    unreadTiers: [['5m', 0] as const, ['7m', 3] as const],
  });
  metrics.watched.dispatcher = { tierOf: String, sample };
  const found = await scraped();
  expect(found.value('account_webhooks_retry_tier_unread_records', { tier: '5m' })).toBe(0);
  expect(found.value('account_webhooks_retry_tier_unread_records', { tier: '7m' })).toBe(3);
});

test('a look that fails leaves out its own metric only', async () => {
  const { metrics, scraped } = await exposed();
  metrics.watched.dispatcher = { tierOf: String, sample: gone };
  const found = await scraped();
  expect(found.value('account_webhooks_breakers_open')).toBeUndefined();
  expect(found.value('account_webhooks_build_info', { version: '1.2.3', roles: 'api' })).toBe(1);
});

type Matcher = readonly [label: string, operator: string, value: string];

describe('a fresh registry', () => {
  /** Of Prometheus itself. */
  const FOREIGN = ['up'];

  /** Every selector in the alerts' expressions: a metric and the matchers of its labels. */
  function selectors(): { name: string; labels: Matcher[] }[] {
    const rules = fileOf('ops/prometheus-alerts.yml')
      .split(/^ {6}- alert: /m)
      .slice(1);
    const expressions = rules.map((rule) => /expr:([\s\S]*?)\n {8}[a-z]+:/.exec(rule)?.[1] ?? '');
    return expressions.flatMap((expression) =>
      [...expression.matchAll(/\b(account_webhooks_\w+|process_\w+|up)\b(?:\{([^}]*)\})?/g)].map(
        ([, name = '', inner = '']) => {
          const matchers = inner.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g);
          return {
            name,
            labels: [...matchers].map(([, label = '', op = '', value = '']): Matcher => [label, op, value]),
          };
        },
      ),
    );
  }

  const partition = (topic: string) => ({ topic, partition: 0, behind: 0, head: null, unreadable: null });

  it('has every series that an alert names, before anything has happened', async () => {
    const { metrics, scraped } = await exposed();
    const sample = { ...{ active: 0, waiting: 0, breakersOpen: 0, consumptionPaused: false }, unconfirmedMs: 0 };
    metrics.watched.dispatcher = { tierOf: () => '5s', sample: () => ({ ...sample, unreadTiers: [['5s', 0]] }) };
    metrics.watched.readModel = { projections: ['p'], sample: () => ({ behindMs: 0, unreadableAccounts: 0 }) };
    metrics.watched.parts = () => [{ part: 'dispatcher', ready: true }];
    for (const [name, topic] of [
      ['payments', 'payment-events'],
      ['retries', 'webhooks.retry.5s'],
    ] as const)
      metrics.watched.consumers.set(name, () => ({
        connected: true,
        inHand: 0,
        inHandMs: 0,
        partitions: [partition(topic)],
      }));
    const { series } = await scraped();
    const labelsOf = (text: string): Record<string, string> => JSON.parse(text.slice(text.indexOf('{')));
    const matches = (labels: Record<string, string>, [label, operator, value]: Matcher) => {
      // Prometheus adds it.
      if (label === 'job') return true;
      const found = labels[label] ?? '';
      const is = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(found) : found === value;
      return operator.startsWith('!') ? !is : is;
    };
    const isThere = ({ name, labels }: ReturnType<typeof selectors>[number]) =>
      series.some((text) => text.split('{')[0] === name && labels.every((one) => matches(labelsOf(text), one)));
    const missing = selectors().filter((one) => !FOREIGN.includes(one.name) && !isThere(one));
    expect(selectors().length).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  it('has the faults of each route of the API', async () => {
    const { metrics, scraped } = await exposed();
    metrics.http.expect({ method: 'GET', path: '/api/webhooks' });
    const found = await scraped();
    for (const status of ['500', '503']) {
      const labels = { method: 'GET', route: '/api/webhooks', status };
      expect(found.value('account_webhooks_http_requests_total', labels)).toBe(0);
    }
  });
});

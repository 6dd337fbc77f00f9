import { startAdminServer } from '../../src/observability/admin-server.js';
import { createMetrics } from '../../src/observability/metrics.js';
import { Readiness } from '../../src/observability/readiness.js';
import type { ConsumerState } from '../../src/ports/broker.js';
import { scrape } from '../support/clients/scrape.js';

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
  metrics.delivery.delivered(2_000, false);
  metrics.delivery.delivered(-3_600_000, true);
  const found = await scraped();
  expect(found.value('account_webhooks_attempt_duration_seconds_sum', { result: '2xx' })).toBe(1.5);
  expect(found.value('account_webhooks_event_to_delivery_seconds_sum', { path: 'direct' })).toBe(2);
  expect(found.value('account_webhooks_event_to_delivery_seconds_sum', { path: 'retried' })).toBe(0);
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

test('a look that fails leaves out its own metric only', async () => {
  const { metrics, scraped } = await exposed();
  metrics.watched.dispatcher = { tierOf: String, sample: gone };
  const found = await scraped();
  expect(found.value('account_webhooks_breakers_open')).toBeUndefined();
  expect(found.value('account_webhooks_build_info', { version: '1.2.3', roles: 'api' })).toBe(1);
});

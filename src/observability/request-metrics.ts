/** Metrics of requests to the REST API, appends to the event store, and the broker's refusals. */
import type { Exposition } from './exposition.js';
import type { HttpMetrics, Route, StoreMetrics } from './metrics.js';
import type { Count } from './tallies.js';

const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FOLDED_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const UNMATCHED: Route = { method: 'any', path: 'unmatched' };
/** Streams are named <category>-<id within the category>, except for the stream of ids. */
const CATEGORIES = ['account', 'webhook-ids', 'store'];

export function httpMetrics(exposition: Exposition): HttpMetrics {
  const requests = exposition.counter({
    name: 'account_webhooks_http_requests_total',
    help: 'Requests to the REST API, by route template, method and status.',
    labels: ['route', 'method', 'status'],
  });
  const durations = exposition.histogram(
    {
      name: 'account_webhooks_http_request_duration_seconds',
      help: 'From the head of a request to its response, by route template and method.',
      labels: ['route', 'method'],
    },
    REQUEST_BUCKETS,
  );
  const ofRoute = remembered(({ path, method }: Route) => ({
    counts: remembered((status: number) => requests(path, method, String(status))),
    observed: durations(path, method),
  }));
  return {
    answered(route, status, ms) {
      const { counts, observed } = ofRoute(route ?? UNMATCHED);
      counts(status).inc();
      observed.observe(ms / 1000);
    },
  };
}

export function storeMetrics(exposition: Exposition): StoreMetrics {
  const conflicts = exposition.counter({
    name: 'account_webhooks_append_conflicts_total',
    help: 'Appends that lost to a concurrent append to the same stream and were decided again, by stream category.',
    labels: ['category'],
  });
  const byCategory = CATEGORIES.map((name) => ({ name, count: conflicts(name) }));
  const failed = counted(exposition, 'account_webhooks_append_failures_total', 'Failed appends to the event store.');
  const notPublished = counted(
    exposition,
    'account_webhooks_publish_failures_total',
    'Failed publishes to the broker. Each is retried; what a topic refuses becomes a dead letter.',
  );
  const folded = exposition.histogram(
    {
      name: 'account_webhooks_read_model_wait_seconds',
      help: 'From storing an event of this process to applying it to the read model of this process.',
    },
    FOLDED_BUCKETS,
  )();
  return {
    appendConflict: (stream) => byCategory.find(({ name }) => stream.startsWith(name))?.count.inc(),
    appendFailed: () => failed.inc(),
    publishFailed: () => notPublished.inc(),
    folded: (ms) => folded.observe(ms / 1000),
  };
}

function counted(exposition: Exposition, name: string, help: string): Count {
  return exposition.counter({ name, help })();
}

/** Creates each value once, on first use: the keys are not known in advance. */
function remembered<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

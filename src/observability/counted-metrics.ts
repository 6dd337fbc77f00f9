/** Metrics that the parts count: of deliveries and attempts, requests to the API, appends, and the broker's refusals. */
import type { Count, Distribution, Exposition } from './exposition.js';
import {
  DEAD_LETTER_REASONS,
  DEFER_REASONS,
  DELIVERY_STEPS,
  type DeliveryMetrics,
  type DeliveryStep,
  type HttpMetrics,
  type Route,
  type StoreMetrics,
} from './metrics.js';

/** s. An attempt's deadline is 15 s by default. */
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
/** s. From a healthy receiver's latency, through the schedule's tiers, to the schedule's end. */
const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600, 21_600, 86_400];
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
const OTHER = 'other';
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const FOLDED_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];
const UNMATCHED: Route = { method: 'any', path: 'unmatched' };
/** Streams are named <category>-<id within the category>, except for the stream of ids. */
const CATEGORIES = ['account', 'webhook-ids', 'store'];

export interface DeliveryLabels {
  readonly eventTypes: readonly string[];
  /** Failures of attempts that got no status. */
  readonly failureCodes: readonly string[];
}

export function deliveryMetrics(exposition: Exposition, labels: DeliveryLabels): DeliveryMetrics {
  const results = attemptResults(exposition, labels.failureCodes);
  const connections = exposition.counter(
    'account_webhooks_connections_total',
    'Connections opened to endpoints. Each is a TLS handshake.',
  )();
  const came = outcomes(exposition, labels.eventTypes);
  const parked = exposition.counter(
    'account_webhooks_parked_total',
    'Parked deliveries (moved to a retry tier, with no attempt counted), by reason.',
    ['reason'],
  );
  const parkedFor = each(DEFER_REASONS, parked);
  const latency = exposition.histogram(
    'account_webhooks_event_to_delivery_seconds',
    'From the payment record in the broker to the first 2xx; retried: the delivery had waited in a retry tier.',
    LATENCY_BUCKETS,
    ['path'],
  );
  const paths = { direct: latency('direct'), retried: latency('retried') };
  const deadLetters = exposition.counter('account_webhooks_dead_letters_total', 'Dead letters, by reason.', ['reason']);
  const deadLettersFor = each(DEAD_LETTER_REASONS, deadLetters);
  const superseded = byEventType(
    exposition.counter(
      'account_webhooks_superseded_total',
      'Records that ended because a later request of their delivery came, by event type.',
      ['event_type'],
    ),
    labels.eventTypes,
  );
  return {
    attempted: ({ status, error, durationMs }) => results(status, error).observe(durationMs / 1000),
    connected: () => connections.inc(),
    came,
    parked: (why) => parkedFor[why].inc(),
    // Hazard: the publication time comes from a payment system's clock and may be any value.
    delivered: (ms, waited) => paths[waited ? 'retried' : 'direct'].observe(Math.max(0, ms) / 1000),
    deadLetter: (reason) => deadLettersFor[reason].inc(),
    superseded: (eventType) => superseded(eventType).inc(),
  };
}

function attemptResults(exposition: Exposition, failureCodes: readonly string[]) {
  const observed = exposition.histogram(
    'account_webhooks_attempt_duration_seconds',
    'Attempts, from the name lookup to the status and headers, by status class or failure.',
    ATTEMPT_BUCKETS,
    ['result'],
  );
  const byStatus = STATUS_CLASSES.map((name) => observed(name));
  const failures = new Map(failureCodes.map((code) => [code, observed(code)]));
  const other = observed(OTHER);
  return (status: number | null, error: string | null): Distribution => {
    if (error !== null) return failures.get(error) ?? other;
    return byStatus[Math.floor((status ?? 0) / 100) - 2] ?? other;
  };
}

/** An unknown event type was written to a tier by somebody else: it gets no series of its own. */
function byEventType(counter: (type: string) => Count, eventTypes: readonly string[]): (type: string) => Count {
  const known = new Map(eventTypes.map((type) => [type, counter(type)]));
  const other = counter(OTHER);
  return (type) => known.get(type) ?? other;
}

function outcomes(exposition: Exposition, eventTypes: readonly string[]) {
  const counter = exposition.counter(
    'account_webhooks_deliveries_total',
    'Steps of deliveries, by outcome and event type.',
    ['outcome', 'event_type'],
  );
  const all = each(DELIVERY_STEPS, (outcome) => byEventType((type) => counter(outcome, type), eventTypes));
  return (outcome: DeliveryStep, eventType: string): void => all[outcome](eventType).inc();
}

function each<K extends string, V = Count>(keys: readonly K[], make: (key: K) => V): Readonly<Record<K, V>> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}

export function httpMetrics(exposition: Exposition): HttpMetrics {
  const requests = exposition.counter(
    'account_webhooks_http_requests_total',
    'Requests to the REST API, by route template, method and status.',
    ['route', 'method', 'status'],
  );
  const durations = exposition.histogram(
    'account_webhooks_http_request_duration_seconds',
    'From the head of a request to its response, by route template and method.',
    REQUEST_BUCKETS,
    ['route', 'method'],
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
  const conflicts = exposition.counter(
    'account_webhooks_append_conflicts_total',
    'Appends that lost to a concurrent append to the same stream and were decided again, by stream category.',
    ['category'],
  );
  const byCategory = CATEGORIES.map((name) => ({ name, count: conflicts(name) }));
  const failed = exposition.counter('account_webhooks_append_failures_total', 'Failed appends to the event store.')();
  const notPublished = exposition.counter(
    'account_webhooks_publish_failures_total',
    'Failed publishes to the broker. Each is retried; what a topic refuses becomes a dead letter.',
  )();
  const folded = exposition.histogram(
    'account_webhooks_read_model_wait_seconds',
    'From storing an event of this process to applying it to the read model of this process.',
    FOLDED_BUCKETS,
  )();
  return {
    appendConflict: (stream) => byCategory.find(({ name }) => stream.startsWith(name))?.count.inc(),
    appendFailed: () => failed.inc(),
    publishFailed: () => notPublished.inc(),
    folded: (ms) => folded.observe(ms / 1000),
  };
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

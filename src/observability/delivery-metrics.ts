/** Metrics of deliveries and attempts. */
import type { Exposition } from './exposition.js';
import {
  DEAD_LETTER_REASONS,
  DELIVERY_STEPS,
  type DeliveryMetrics,
  type DeliveryStep,
  PARK_REASONS,
} from './metrics.js';
import type { Count, Distribution } from './tallies.js';

/** s. An attempt's deadline is 15 s by default. */
const ATTEMPT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
/** s. From a healthy receiver's latency, through the schedule's tiers, to the schedule's end. */
const LATENCY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600, 21_600, 86_400];
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
const OTHER = 'other';

export interface DeliveryLabels {
  readonly eventTypes: readonly string[];
  /** Failures of attempts that got no status. */
  readonly failureCodes: readonly string[];
}

export function deliveryMetrics(exposition: Exposition, labels: DeliveryLabels): DeliveryMetrics {
  const results = attemptResults(exposition, labels.failureCodes);
  const came = outcomes(exposition, labels.eventTypes);
  const latency = exposition.histogram(
    {
      name: 'account_webhooks_event_to_delivery_seconds',
      help: 'From the payment record in the broker to the first 2xx; retried: the delivery had waited in a retry tier.',
      labels: ['path'],
    },
    LATENCY_BUCKETS,
  );
  const paths = { direct: latency('direct'), retried: latency('retried') };
  const connections = exposition.counter(CONNECTIONS)();
  const parked = each(PARK_REASONS, exposition.counter(PARKED));
  const deadLetters = each(DEAD_LETTER_REASONS, exposition.counter(DEAD_LETTERS));
  return {
    attempted: ({ status, error, durationMs }) => results(status, error).observe(durationMs / 1000),
    connected: () => connections.inc(),
    came,
    parked: (why) => parked[why].inc(),
    // Hazard: the publication time comes from a payment system's clock and may be any value.
    delivered: (ms, waited) => paths[waited ? 'retried' : 'direct'].observe(Math.max(0, ms) / 1000),
    deadLetter: (reason) => deadLetters[reason].inc(),
  };
}

const CONNECTIONS = {
  name: 'account_webhooks_connections_total',
  help: 'Connections opened to endpoints. Each is a TLS handshake.',
};

const PARKED = {
  name: 'account_webhooks_parked_total',
  help: 'Parked deliveries (moved to a retry tier, with no attempt counted), by reason.',
  labels: ['reason'],
};

const DEAD_LETTERS = {
  name: 'account_webhooks_dead_letters_total',
  help: 'Dead letters, by reason.',
  labels: ['reason'],
};

function attemptResults(exposition: Exposition, failureCodes: readonly string[]) {
  const described = {
    name: 'account_webhooks_attempt_duration_seconds',
    help: 'Attempts, from the name lookup to the status and headers, by status class or failure.',
    labels: ['result'],
  };
  const observed = exposition.histogram(described, ATTEMPT_BUCKETS);
  const byStatus = STATUS_CLASSES.map((name) => observed(name));
  const failures = new Map(failureCodes.map((code) => [code, observed(code)]));
  const other = observed(OTHER);
  return (status: number | null, error: string | null): Distribution => {
    if (error !== null) return failures.get(error) ?? other;
    return byStatus[Math.floor((status ?? 0) / 100) - 2] ?? other;
  };
}

/** An unknown event type was written to a tier by somebody else: it gets no series of its own. */
function outcomes(exposition: Exposition, eventTypes: readonly string[]) {
  const counter = exposition.counter({
    name: 'account_webhooks_deliveries_total',
    help: 'Steps of deliveries, by outcome and event type.',
    labels: ['outcome', 'event_type'],
  });
  const ofOutcome = (outcome: DeliveryStep) => ({
    byType: new Map(eventTypes.map((type) => [type, counter(outcome, type)])),
    other: counter(outcome, OTHER),
  });
  const all = each(DELIVERY_STEPS, ofOutcome);
  return (outcome: DeliveryStep, eventType: string): void => {
    const { byType, other } = all[outcome];
    (byType.get(eventType) ?? other).inc();
  };
}

function each<K extends string, V = Count>(keys: readonly K[], make: (key: K) => V): Readonly<Record<K, V>> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}

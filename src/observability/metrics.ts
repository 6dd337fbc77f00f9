/** What the parts count for /metrics. They get these objects, made once, and see neither names nor text. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Exposition, type Sample } from './exposition.js';
import { METRICS, type MetricName } from './metrics-table.js';
import { sampledOnce, type Watched } from './watched.js';

const DELIVERY_STEPS = ['delivered', 'retrying', 'deferred', 'exhausted', 'cancelled'] as const;
/** retrying: an attempt failed, and another will follow. deferred: moved to a tier without an attempt, uncounted. */
type DeliveryStep = (typeof DELIVERY_STEPS)[number];

const DEFER_REASONS = ['queue', 'endpoint-failing', 'endpoint-paused', 'stopping', 'not-prepared'] as const;
/** not-prepared: our own fault, in keys or store. */
export type DeferReason = (typeof DEFER_REASONS)[number];

const ENDS = ['not-valid', 'exhausted', 'deactivated'] as const;
const DEAD_LETTER_REASONS = [...ENDS, 'other-history', 'account-unreadable', 'unreadable-batch'] as const;
export type CountedReason = (typeof DEAD_LETTER_REASONS)[number];

export interface MetricsOptions {
  readonly eventTypes: readonly string[];
  /** Failures of attempts that got no status. */
  readonly failureCodes: readonly string[];
  readonly version: string;
  readonly roles: readonly string[];
}

export type ExposedMetrics = ReturnType<typeof createMetrics>;
export type Metrics = Pick<ExposedMetrics, 'delivery' | 'http' | 'store' | 'watched'>;
export type DeliveryMetrics = ReturnType<typeof deliveryMetrics>;
export type HttpMetrics = ReturnType<typeof httpMetrics>;
export type StoreMetrics = ReturnType<typeof storeMetrics>;
type Counters = Exposition<MetricName, Watched>;

export function createMetrics({ eventTypes, failureCodes, version, roles }: MetricsOptions) {
  const counters: Counters = new Exposition(METRICS);
  const delays = eventLoopDelays();
  const watched: Watched = { build: { version, roles }, eventLoopDelay: delays.look, consumers: new Map() };
  return {
    delivery: deliveryMetrics(counters, eventTypes, failureCodes),
    http: httpMetrics(counters),
    store: storeMetrics(counters),
    watched,
    contentType: counters.contentType,
    text: () => counters.text(sampledOnce(watched)),
    close: delays.stop,
  };
}

/** Called for every delivery: cheap, and never throws. */
function deliveryMetrics(counters: Counters, eventTypes: readonly string[], failureCodes: readonly string[]) {
  const took = (result: string) => counters.distribution('account_webhooks_attempt_duration_seconds', result);
  const byStatus = ['2xx', '3xx', '4xx', '5xx'].map(took);
  const byFailure = orOther(failureCodes, took);
  const connections = counters.count('account_webhooks_connections_total');
  const outcomes = each(DELIVERY_STEPS, (outcome) =>
    orOther(eventTypes, (type) => counters.count('account_webhooks_deliveries_total', outcome, type)),
  );
  const deferred = each(DEFER_REASONS, (why) => counters.count('account_webhooks_deferred_total', why));
  const latencies = (path: 'direct' | 'retried') =>
    orOther(eventTypes, (type) => counters.distribution('account_webhooks_event_to_delivery_seconds', path, type));
  const [direct, retried] = [latencies('direct'), latencies('retried')];
  const letters = each(DEAD_LETTER_REASONS, (why) => counters.count('account_webhooks_dead_letters_total', why));
  return {
    /** Its result says something about its endpoint. @param error a failure code; null after a complete response */
    attempted({
      status,
      error,
      durationMs,
    }: {
      status: number | null;
      error: string | null;
      durationMs: number;
    }): void {
      const answered = error === null ? byStatus[Math.floor((status ?? 0) / 100) - 2] : undefined;
      (answered ?? byFailure(error)).observe(durationMs / 1000);
    },
    /** To an endpoint. */
    connected: (): void => connections.inc(),
    came: (outcome: DeliveryStep, eventType: string): void => outcomes[outcome](eventType).inc(),
    deferred: (why: DeferReason): void => deferred[why].inc(),
    /**
     * The first 2xx. Hazard: the publication time comes from a payment system's clock and may be any value.
     * @param ms since the payment's record was published
     * @param waited whether the delivery was ever in a tier
     */
    delivered: (ms: number, waited: boolean, eventType: string): void =>
      (waited ? retried : direct)(eventType).observe(Math.max(0, ms) / 1000),
    deadLetter: (reason: CountedReason): void => letters[reason].inc(),
  };
}

function each<K extends string, V>(keys: readonly K[], make: (key: K) => V): Readonly<Record<K, V>> {
  return Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;
}

/** What strangers write has one value in common: a tier may hold any event type. */
function orOther<V>(keys: readonly string[], make: (key: string) => V): (key: string | null) => V {
  const known = new Map<string | null, V>(keys.map((key) => [key, make(key)]));
  const other = make('other');
  return (key) => known.get(key) ?? other;
}

/** `path` is the route's template, /api/webhooks/{id}. */
export type Route = Readonly<Record<'method' | 'path', string>>;
const FAULT_STATUSES = [500, 503];
const UNMATCHED: Route = { method: 'any', path: 'unmatched' };

function httpMetrics(counters: Counters) {
  const skippedPayments = counters.count('account_webhooks_payments_skipped_total');
  const ofRoute = remembered(({ path, method }: Route) => ({
    byStatus: remembered((status: number) =>
      counters.count('account_webhooks_http_requests_total', path, method, String(status)),
    ),
    durations: counters.distribution('account_webhooks_http_request_duration_seconds', path, method),
  }));
  const expect = (route: Route) => {
    for (const status of FAULT_STATUSES) ofRoute(route).byStatus(status);
  };
  expect(UNMATCHED);
  return {
    /** Creates the series of a route's faults: the first increase of a series that is new would be invisible to rate(). */
    expect,
    /** @param route one object per route; null if none matched */
    answered(route: Route | null, status: number, ms: number): void {
      const { byStatus, durations } = ofRoute(route ?? UNMATCHED);
      byStatus(status).inc();
      durations.observe(ms / 1000);
    },
    skippedPayment: () => skippedPayments.inc(),
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

function storeMetrics(counters: Counters) {
  const failed = counters.count('account_webhooks_append_failures_total');
  const notPublished = counters.count('account_webhooks_publish_failures_total');
  const folded = counters.distribution('account_webhooks_read_model_wait_seconds');
  return {
    appendFailed: (): void => failed.inc(),
    publishFailed: (): void => notPublished.inc(),
    /** From storage to folding here, for the events of this process's own commands. */
    folded: (ms: number): void => folded.observe(ms / 1000),
  };
}

/**
 * ms. The delay is the lateness of its timer, so the timer's own interval is subtracted. Each 10 ms it took half of an idle
 * service's processor time; each 100 ms it may find a delay of less than that too short, or not at all.
 */
const RESOLUTION_MS = 100;

function eventLoopDelays() {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const late = (nanoseconds: number) =>
    delays.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000);
  const look = (): Sample[] => {
    const { mean, max } = delays;
    const values = { mean, p50: delays.percentile(50), p99: delays.percentile(99), max };
    const samples = Object.entries(values).map(([stat, value]): Sample => [late(value), stat]);
    delays.reset();
    return samples;
  };
  return { look, stop: () => void delays.disable() };
}

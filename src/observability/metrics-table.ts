/** The metrics of /metrics; `make metrics-document` writes their table into docs/operations.md. No label grows with accounts. */
import { readdirSync } from 'node:fs';
import type { Metric } from './exposition.js';
import { byPartition, byTier, byTopic, type Look, most, ofDispatcher, sum, type Watched } from './watched.js';

/** @param look undefined: metrics.ts counts it */
const counter = (says: string, labels: readonly string[], look?: Look): Metric<Watched> => {
  return { type: 'counter', labels, says, ...(look && { look }) };
};
const gauge = (says: string, labels: readonly string[], look: Look): Metric<Watched> => {
  return { type: 'gauge', labels, says, look };
};
/** @param bounds s */
const histogram = (says: string, labels: readonly string[], bounds: readonly number[]): Metric<Watched> => {
  return { type: 'histogram', labels, says, bounds };
};
const ofProcess = (says: string, value: () => number): Metric<Watched> => gauge(says, [], () => [[value()]]);
const dispatcher = (says: string, ...value: Parameters<typeof ofDispatcher>) => gauge(says, [], ofDispatcher(...value));

/** An attempt's deadline is 15 s by default. */
const OF_ATTEMPTS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30];
/** From a healthy receiver's latency, through the schedule's tiers, to the schedule's end. */
const OF_LATENCY = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600, 21_600, 86_400];
const OF_REQUESTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const OF_FOLDING = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

const DELIVERIES = {
  deliveries_total: counter('Steps of deliveries.', ['outcome', 'event_type']),
  attempt_duration_seconds: histogram('From the name lookup to the status and headers.', ['result'], OF_ATTEMPTS),
  connections_total: counter('Connections opened to endpoints. Each is a TLS handshake.', []),
  event_to_delivery_seconds: histogram(
    'From the record in the broker to the first 2xx.',
    ['path', 'event_type'],
    OF_LATENCY,
  ),
  deferred_total: counter('Deferred deliveries: moved to a tier, with no attempt counted.', ['reason']),
  dead_letters_total: counter('Dead letters.', ['reason']),
  breakers_open: dispatcher('Endpoints and hosts whose circuit breaker is not closed.', (of) => of.breakersOpen),
  consumption_paused: dispatcher('1 while saturation keeps records in their topics.', (of) => +of.consumptionPaused),
  queued_deliveries: dispatcher('Deliveries that wait for a slot, or to be deferred.', (of) => of.waiting),
  attempts_in_flight: dispatcher('Attempts in progress, of `DELIVERY_CONCURRENCY`.', (of) => of.active),
  unconfirmed_seconds: dispatcher(
    'For how long the oldest routed payment has waited for the read model to pass the head of the event store.',
    ({ unconfirmedMs }) => unconfirmedMs / 1000,
  ),
};

const RECORDS = {
  consumer_lag_records: gauge(
    'Records published and not committed as done, as of the last fetch, also those behind an open transaction.',
    ['topic', 'partition'],
    byPartition(({ behind }) => behind),
  ),
  partitions_blocked: gauge(
    'Partitions that the broker cannot read, or that pause before unreadable batches.',
    ['topic'],
    byTopic(sum, ({ unreadable }) => (unreadable ? 1 : 0)),
  ),
  records_in_hand: gauge('Records begun and not done.', ['consumer'], ({ consumers }) =>
    [...consumers].map(([name, state]) => [state()?.inHand ?? 0, name] as const),
  ),
  retry_tier_records: gauge(
    'Records in each retry tier, due or not: bundles of up to 500 deliveries.',
    ['tier'],
    byTier(sum, ({ behind }) => behind),
  ),
  retry_tier_overdue_seconds: gauge(
    'How long the first record has been overdue.',
    ['tier'],
    byTier(most, ({ head }) => (head?.overdueMs ?? 0) / 1000),
  ),
  retry_tier_unread_records: gauge(
    'Records in a tier that this process does not read; 0 for a tier that it reads.',
    ['tier'],
    ({ dispatcher: of }) => of?.sample().unreadTiers.map(([tier, records]) => [records, tier] as const) ?? [],
  ),
  publish_failures_total: counter('Failed publishes to the broker. The service repeats its own.', []),
};

const EVENTS = {
  projection_lag_seconds: gauge(
    'How long the read model has been behind the event store; 0 while it is up to date.',
    ['projection'],
    ({ readModel }) => readModel?.projections.map((name) => [readModel.sample().behindMs / 1000, name] as const) ?? [],
  ),
  accounts_unreadable: gauge(
    'Accounts that are set aside because an event or the stream of theirs cannot be read.',
    [],
    ({ readModel }) => (readModel ? [[readModel.sample().unreadableAccounts]] : []),
  ),
  read_model_wait_seconds: histogram('From storing an event of this process to folding it here.', [], OF_FOLDING),
  append_failures_total: counter('Failed appends to the event store.', []),
};

const API = {
  http_requests_total: counter('Requests to the API, by route template.', ['route', 'method', 'status']),
  http_request_duration_seconds: histogram(
    'From the head of a request to its response.',
    ['route', 'method'],
    OF_REQUESTS,
  ),
  payments_skipped_total: counter(
    'Payments shown without their payload, because their log entry names a topic or a partition that does not exist.',
    [],
  ),
  ready: gauge(
    '1 if the part of `/health/ready` is ready, else 0.',
    ['part'],
    ({ parts }) => parts?.().map(({ part, ready }) => [Number(ready), part] as const) ?? [],
  ),
  event_loop_delay_seconds: gauge(
    'Event loop delay since the last scrape, sampled each 100 ms: a delay of less may not be seen.',
    ['stat'],
    ({ eventLoopDelay }) => eventLoopDelay(),
  ),
  build_info: gauge('Always 1. The labels say what runs.', ['version', 'node', 'roles'], ({ build }) => [
    [1, build.version, process.version, build.roles.join()],
  ]),
};

/** Under the names that Prometheus' client libraries share. */
const PROCESS = {
  process_cpu_seconds_total: counter('CPU time, user and system.', [], () => {
    const { user, system } = process.cpuUsage();
    return [[(user + system) / 1e6]];
  }),
  process_resident_memory_bytes: ofProcess('Resident memory.', () => process.memoryUsage.rss()),
  process_open_fds: ofProcess('Open file descriptors, on Linux.', () => readdirSync('/proc/self/fd').length),
  process_start_time_seconds: ofProcess('Start, in seconds since the epoch.', () => performance.timeOrigin / 1000),
  nodejs_heap_size_used_bytes: ofProcess("The used part of V8's heap.", () => process.memoryUsage().heapUsed),
  nodejs_external_memory_bytes: ofProcess(
    'Memory outside of it, such as records.',
    () => process.memoryUsage().external,
  ),
};

const prefixed = <K extends string>(metrics: Readonly<Record<K, Metric<Watched>>>) =>
  Object.fromEntries(
    Object.entries<Metric<Watched>>(metrics).map(([name, metric]) => [`account_webhooks_${name}`, metric]),
  ) as Readonly<Record<`account_webhooks_${K}`, Metric<Watched>>>;

export const METRICS = { ...prefixed({ ...DELIVERIES, ...RECORDS, ...EVENTS, ...API }), ...PROCESS };
export type MetricName = keyof typeof METRICS;

/** The values sampled on each scrape: consumers, tiers, queues and breakers, projections, readiness. */
import type { Exposition, Sample } from './exposition.js';
import type { ConsumerSample, PartitionSample, SchedulerSample, Watch } from './metrics.js';

/** @param now ms since the epoch */
export function watchedMetrics(exposition: Exposition, now: () => number): Watch {
  const consumer = watchedConsumers(exposition);
  const { tiers, unreadTiers } = watchedTiers(exposition, now);
  const scheduler = watchedSchedulers(exposition);
  const projection = watchedProjections(exposition);
  const unreadableAccounts = watchedValue(
    exposition,
    'account_webhooks_accounts_unreadable',
    'Accounts that are set aside: an event or the stream of theirs cannot be read.',
  );
  const unconfirmed = watchedValue(
    exposition,
    'account_webhooks_unconfirmed_seconds',
    'For how long the oldest routed payment has waited for the read model to pass the head of the event store.',
  );
  const readiness = watchedReadiness(exposition);
  return {
    ...{ consumer, tiers, unreadTiers, scheduler, projection, unreadableAccounts, readiness },
    unconfirmed: (ms) => unconfirmed(() => ms() / 1000),
  };
}

function watchedConsumers(exposition: Exposition): Watch['consumer'] {
  const consumers: { readonly name: string; readonly sample: () => ConsumerSample | null }[] = [];
  exposition.gauge(
    'account_webhooks_consumer_lag_records',
    'Published records that are not committed as done, by topic and partition of this process.',
    ['topic', 'partition'],
    () =>
      consumers.flatMap(({ sample }) =>
        (sample()?.partitions ?? []).map(({ topic, partition, behind }): Sample => [behind, topic, String(partition)]),
      ),
  );
  exposition.gauge(
    'account_webhooks_partitions_blocked',
    'Partitions of this process that the broker cannot read, or that pause before unreadable batches, by topic.',
    ['topic'],
    () => consumers.flatMap(({ sample }) => blockedByTopic(sample()?.partitions ?? [])),
  );
  const byConsumer = (value: (sample: ConsumerSample) => number) => () =>
    consumers.flatMap(({ name, sample }): Sample[] => {
      const taken = sample();
      return taken ? [[value(taken), name]] : [];
    });
  exposition.gauge(
    'account_webhooks_records_in_hand',
    'Records begun and not done, by consumer.',
    ['consumer'],
    byConsumer(({ inHand }) => inHand),
  );
  exposition.gauge(
    'account_webhooks_records_in_hand_bytes',
    'Bytes that records in hand hold: key, value and headers.',
    ['consumer'],
    byConsumer(({ inHandBytes }) => inHandBytes),
  );
  return (name, sample) => void consumers.push({ name, sample });
}

function blockedByTopic(partitions: readonly PartitionSample[]): Sample[] {
  const byTopic = new Map<string, number>();
  for (const { topic, unreadable } of partitions) {
    byTopic.set(topic, (byTopic.get(topic) ?? 0) + (unreadable ? 1 : 0));
  }
  return [...byTopic].map(([topic, count]): Sample => [count, topic]);
}

function watchedTiers(exposition: Exposition, now: () => number): Pick<Watch, 'tiers' | 'unreadTiers'> {
  const tiers: { readonly sample: () => ConsumerSample | null; readonly tierOf: (topic: string) => string }[] = [];
  const unread: Parameters<Watch['unreadTiers']>[0][] = [];
  const byTier = (merged: (values: readonly number[]) => number, value: (partition: PartitionSample) => number) => () =>
    tiers.flatMap(({ sample, tierOf }) => {
      const values = new Map<string, number[]>();
      for (const partition of sample()?.partitions ?? []) {
        const tier = tierOf(partition.topic);
        values.set(tier, [...(values.get(tier) ?? []), value(partition)]);
      }
      return [...values].map(([tier, all]): Sample => [merged(all), tier]);
    });
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const most = (values: readonly number[]) => Math.max(0, ...values);
  const gauge = (name: string, help: string, look: () => Iterable<Sample>) =>
    exposition.gauge(name, help, ['tier'], look);
  gauge(
    'account_webhooks_retry_tier_records',
    'Records in each retry tier, due or not.',
    byTier(sum, ({ behind }) => behind),
  );
  gauge(
    'account_webhooks_retry_tier_oldest_seconds',
    'Age of the oldest record that waits in each tier.',
    byTier(most, ({ head }) => (now() - (head?.publishedAt ?? now())) / 1000),
  );
  gauge(
    'account_webhooks_retry_tier_overdue_seconds',
    'How long the first record of each tier has been overdue.',
    byTier(most, ({ head }) => (head ? head.overdueMs / 1000 : 0)),
  );
  gauge(
    'account_webhooks_retry_tier_unread_records',
    'Records in each retry tier that this process does not read; 0 for a tier that it reads.',
    () => unread.flatMap((sample) => sample().map(([tier, records]): Sample => [records, tier])),
  );
  return {
    tiers: (sample, tierOf) => void tiers.push({ sample, tierOf }),
    unreadTiers: (sample) => void unread.push(sample),
  };
}

function watchedSchedulers(exposition: Exposition): Watch['scheduler'] {
  const schedulers: (() => SchedulerSample)[] = [];
  const gauge = (name: string, help: string, value: (sample: SchedulerSample) => number) =>
    exposition.gauge(name, help, [], () => schedulers.map((sample): Sample => [value(sample())]));
  gauge(
    'account_webhooks_breakers_open',
    'Endpoints whose circuit breaker is not closed.',
    ({ breakersOpen }) => breakersOpen,
  );
  gauge(
    'account_webhooks_consumption_paused',
    '1 while consumption is paused because the process is saturated.',
    ({ consumptionPaused }) => (consumptionPaused ? 1 : 0),
  );
  gauge(
    'account_webhooks_queued_deliveries',
    'Deliveries that wait for a slot, or to be deferred.',
    ({ waiting }) => waiting,
  );
  gauge(
    'account_webhooks_queued_deliveries_bytes',
    'Bytes of the payments of queued deliveries.',
    ({ waitingBytes }) => waitingBytes,
  );
  gauge('account_webhooks_attempts_in_flight', 'Attempts in progress.', ({ active }) => active);
  return (sample) => void schedulers.push(sample);
}

function watchedProjections(exposition: Exposition): Watch['projection'] {
  const projections: { readonly name: string; readonly sample: Parameters<Watch['projection']>[1] }[] = [];
  exposition.gauge(
    'account_webhooks_projection_lag_seconds',
    'How long the read model has been behind the event store; 0 while it is up to date.',
    ['projection'],
    () => projections.map(({ name, sample }): Sample => [sample().behindMs / 1000, name]),
  );
  exposition.growing(
    'account_webhooks_projection_events_total',
    'Events that the read model has folded.',
    ['projection'],
    () => projections.map(({ name, sample }): Sample => [sample().events, name]),
  );
  return (name, sample) => void projections.push({ name, sample });
}

function watchedReadiness(exposition: Exposition): Watch['readiness'] {
  const watched: Parameters<Watch['readiness']>[0][] = [];
  exposition.gauge('account_webhooks_ready', '1 if the part of /health/ready is ready, else 0.', ['part'], () =>
    watched.flatMap((parts) => parts().map(({ part, ready }): Sample => [ready ? 1 : 0, part])),
  );
  return (parts) => void watched.push(parts);
}

function watchedValue(exposition: Exposition, name: string, help: string): (value: () => number) => void {
  const values: (() => number)[] = [];
  exposition.gauge(name, help, [], () => values.map((value): Sample => [value()]));
  return (value) => void values.push(value);
}

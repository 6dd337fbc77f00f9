/** The values sampled on each scrape: consumers, tiers, queues and breakers, projections, readiness. */
import type { Exposition, Sample } from './exposition.js';
import type { ConsumerSample, GateSample, PartitionSample, ProjectionSample, Watch } from './metrics.js';

interface Watched {
  readonly consumers: { readonly name: string; readonly sample: () => ConsumerSample | null }[];
  readonly tiers: { readonly sample: () => ConsumerSample | null; readonly tierOf: (topic: string) => string }[];
  readonly unreadTiers: Parameters<Watch['unreadTiers']>[0][];
  readonly gates: (() => GateSample)[];
  readonly unreadableAccounts: (() => number)[];
  readonly unconfirmed: (() => number)[];
  readonly projections: { readonly name: string; readonly sample: () => ProjectionSample }[];
  readonly readiness: (() => readonly { readonly part: string; readonly ready: boolean }[])[];
}

/** @param now ms since the epoch */
export function watchedMetrics(exposition: Exposition, now: () => number): Watch {
  const watched: Watched = {
    consumers: [],
    tiers: [],
    unreadTiers: [],
    gates: [],
    unreadableAccounts: [],
    unconfirmed: [],
    projections: [],
    readiness: [],
  };
  exposeConsumers(exposition, watched);
  exposeTiers(exposition, watched, now);
  exposeGates(exposition, watched);
  exposeProjections(exposition, watched);
  exposeUnreadableAccounts(exposition, watched);
  exposeUnconfirmed(exposition, watched);
  exposeReadiness(exposition, watched);
  return {
    consumer: (name, sample) => void watched.consumers.push({ name, sample }),
    tiers: (sample, tierOf) => void watched.tiers.push({ sample, tierOf }),
    unreadTiers: (sample) => void watched.unreadTiers.push(sample),
    gate: (sample) => void watched.gates.push(sample),
    projection: (name, sample) => void watched.projections.push({ name, sample }),
    unreadableAccounts: (count) => void watched.unreadableAccounts.push(count),
    unconfirmed: (ms) => void watched.unconfirmed.push(ms),
    readiness: (parts) => void watched.readiness.push(parts),
  };
}

function exposeConsumers(exposition: Exposition, { consumers }: Watched): void {
  const lag = {
    name: 'account_webhooks_consumer_lag_records',
    help: 'Published records that are not committed as done, by topic and partition of this process.',
    labels: ['topic', 'partition'],
  };
  exposition.gauge(lag, () =>
    consumers.flatMap(({ sample }) =>
      (sample()?.partitions ?? []).map(({ topic, partition, behind }): Sample => [behind, topic, String(partition)]),
    ),
  );
  const blocked = {
    name: 'account_webhooks_partitions_blocked',
    help: 'Partitions of this process that the broker cannot read, or that pause before unreadable batches, by topic.',
    labels: ['topic'],
  };
  exposition.gauge(blocked, () => consumers.flatMap(({ sample }) => blockedByTopic(sample()?.partitions ?? [])));
  const inHand = (value: (sample: ConsumerSample) => number) => () =>
    consumers.flatMap(({ name, sample }): Sample[] => {
      const taken = sample();
      return taken ? [[value(taken), name]] : [];
    });
  const labels = ['consumer'];
  exposition.gauge(
    {
      name: 'account_webhooks_records_in_hand',
      help: 'Records begun and not done, by consumer.',
      labels,
    },
    inHand((sample) => sample.inHand),
  );
  exposition.gauge(
    {
      name: 'account_webhooks_records_in_hand_bytes',
      help: 'Bytes that records in hand hold: key, value and headers.',
      labels,
    },
    inHand((sample) => sample.inHandBytes),
  );
}

function blockedByTopic(partitions: readonly PartitionSample[]): Sample[] {
  const byTopic = new Map<string, number>();
  for (const { topic, unreadable } of partitions) {
    byTopic.set(topic, (byTopic.get(topic) ?? 0) + (unreadable ? 1 : 0));
  }
  return [...byTopic].map(([topic, count]): Sample => [count, topic]);
}

function exposeTiers(exposition: Exposition, { tiers, unreadTiers }: Watched, now: () => number): void {
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
  const labels = ['tier'];
  exposition.gauge(
    { name: 'account_webhooks_retry_tier_records', help: 'Records in each retry tier, due or not.', labels },
    byTier(sum, ({ behind }) => behind),
  );
  exposition.gauge(
    {
      name: 'account_webhooks_retry_tier_oldest_seconds',
      help: 'Age of the oldest record that waits in each tier.',
      labels,
    },
    byTier(most, ({ head }) => (now() - (head?.publishedAt ?? now())) / 1000),
  );
  exposition.gauge(
    {
      name: 'account_webhooks_retry_tier_overdue_seconds',
      help: 'How long the first record of each tier has been overdue.',
      labels,
    },
    byTier(most, ({ head }) => (head ? head.overdueMs / 1000 : 0)),
  );
  exposition.gauge(
    {
      name: 'account_webhooks_retry_tier_unread_records',
      help: 'Records in each retry tier that this process does not read; 0 for a tier that it reads.',
      labels,
    },
    () => unreadTiers.flatMap((sample) => sample().map(([tier, records]): Sample => [records, tier])),
  );
}

function exposeGates(exposition: Exposition, { gates }: Watched): void {
  const one = (name: string, help: string, value: (sample: GateSample) => number) =>
    exposition.gauge({ name, help }, () => gates.map((sample): Sample => [value(sample())]));
  one('account_webhooks_breakers_open', 'Endpoints whose circuit breaker is not closed.', (gate) => gate.breakersOpen);
  one(
    'account_webhooks_intake_held',
    '1 while the process has no time left and leaves records in their topics.',
    (gate) => (gate.intakeHeld ? 1 : 0),
  );
  one(
    'account_webhooks_waiting_in_lines',
    'Deliveries that wait for a place at their endpoint, or to be parked.',
    (gate) => gate.waiting,
  );
  one(
    'account_webhooks_waiting_in_lines_bytes',
    'Bytes of the payments of the waiting deliveries.',
    (gate) => gate.waitingBytes,
  );
  one('account_webhooks_attempts_in_flight', 'Attempts in progress.', (gate) => gate.active);
}

function exposeProjections(exposition: Exposition, { projections }: Watched): void {
  const labels = ['projection'];
  exposition.gauge(
    {
      name: 'account_webhooks_projection_lag_seconds',
      help: 'How long the read model has been behind the event store; 0 while it is up to date.',
      labels,
    },
    () => projections.map(({ name, sample }): Sample => [sample().behindMs / 1000, name]),
  );
  exposition.growing(
    { name: 'account_webhooks_projection_events_total', help: 'Events that the read model has folded.', labels },
    () => projections.map(({ name, sample }): Sample => [sample().events, name]),
  );
}

function exposeUnreadableAccounts(exposition: Exposition, { unreadableAccounts }: Watched): void {
  exposition.gauge(
    {
      name: 'account_webhooks_accounts_unreadable',
      help: 'Accounts that are set aside: an event or the stream of theirs cannot be read.',
    },
    () => unreadableAccounts.map((count): Sample => [count()]),
  );
}

function exposeUnconfirmed(exposition: Exposition, { unconfirmed }: Watched): void {
  exposition.gauge(
    {
      name: 'account_webhooks_unconfirmed_seconds',
      help: 'For how long the oldest routed payment has waited for the read model to pass the head of the event store.',
    },
    () => unconfirmed.map((ms): Sample => [ms() / 1000]),
  );
}

function exposeReadiness(exposition: Exposition, { readiness }: Watched): void {
  exposition.gauge(
    { name: 'account_webhooks_ready', help: '1 if the part of /health/ready is ready, else 0.', labels: ['part'] },
    () => readiness.flatMap((parts) => parts().map(({ part, ready }): Sample => [ready ? 1 : 0, part])),
  );
}

/**
 * Checks the next record of each partition: the broker may be unable to read it, and a retry record that is long due has
 * no reader. Processes that read the partitions report this too; this check needs none.
 */

import { TookTooLong, withinTime } from '../adapters/common/time-limit.js';
import { dueOf } from '../delivery/delivery.js';
import { longestWaitMs } from '../delivery/retry/retry-schedule.js';
import { existingTiers } from '../delivery/retry/tiers.js';
import {
  blockedText,
  END_THE_TRANSACTION,
  heldBackText,
  MEND_THE_LOG,
  retryGroup,
  type Topics,
  topicsOf,
} from '../delivery/topics.js';
import {
  type Broker,
  BrokerUnavailable,
  isTime,
  PermissionDenied,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../ports/broker.js';
import { topicRecords } from '../ports/topic-records.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

/** Shorter than a check's limit: if Kafka can't be used, the broker check says so. */
const LOOK_WITHIN_MS = 8_000;
/** A dispatcher finds a new tier within a minute. */
const OVERDUE_MS = 120_000;
const START_ONE = 'start a dispatcher with this TOPIC_PREFIX and KAFKA_GROUP; if one runs, see its log';

export type PartitionsConfig = Pick<Config, 'paymentTopics' | 'topicPrefix' | 'delivery'>;

/** @param openBroker null if none exists yet */
export function partitionChecks(
  config: PartitionsConfig,
  openBroker: () => Promise<Broker | null>,
  now: () => number,
): Check[] {
  return [{ name: 'partitions', run: async () => findings(config, await openBroker(), now()) }];
}

async function findings(config: PartitionsConfig, broker: Broker | null, now: number): Promise<Finding[]> {
  if (!broker) return [];
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  try {
    const [next, held] = await withinTime(LOOK_WITHIN_MS, look(config, broker, topics));
    const found = [
      ...next.blocked.map((batch) => fail(blockedText(batch), MEND_THE_LOG)),
      ...held,
      ...overdue(next.records, topics, now),
    ];
    return found.length === 0
      ? [ok('no partition waits for its broker, and no retry tier is without a reader')]
      : found;
  } catch (error) {
    if (error instanceof PermissionDenied)
      return [
        warn(error.message, 'grant READ on the payment and retry topics, and DESCRIBE on the groups of KAFKA_GROUP'),
      ];
    if (error instanceof TookTooLong) return [warn('not checked: the broker took too long', 'run doctor again')];
    // The check of the broker says so.
    if (error instanceof BrokerUnavailable) return [];
    throw error;
  }
}

/** A transaction that is open before and after the other reads lasts for seconds; short ones are no finding. */
async function look(config: PartitionsConfig, broker: Broker, topics: Topics): Promise<[Next, Finding[]]> {
  const extents = () => Promise.all(topics.payments.map(async (topic) => ({ topic, of: await broker.extent(topic) })));
  const before = await extents();
  const next = await nextRecords(config, broker, topics);
  if (!before.some(({ of }) => [...of.values()].some(({ stable }) => stable !== undefined))) return [next, []];
  const after = await extents();
  const held = after.flatMap(({ topic, of }, n) =>
    [...of].flatMap(([partition, { stable: offset, next: end }]) => {
      if (offset === undefined || before[n]?.of.get(partition)?.stable !== offset) return [];
      const todo = END_THE_TRANSACTION.replace('TOPIC', topic);
      return [warn(heldBackText({ topic, partition, offset, records: end - offset }), todo)];
    }),
  );
  return [next, held];
}

interface Next {
  readonly records: ReceivedRecord[];
  /** Where the broker can't read on; the service passes what only the service can't read. */
  readonly blocked: UnreadableBatch[];
}

/** The next record of a group in each partition: earlier records may still be in progress. */
async function nextRecords({ delivery: { group } }: PartitionsConfig, broker: Broker, topics: Topics): Promise<Next> {
  const tiers = await existingTiers({ broker, topics });
  const next: Next = { records: [], blocked: [] };
  // Concurrently: each topic is a group of its own, and Kafka delays a new group by three seconds.
  await Promise.all([
    ...topics.payments.map((topic) => readNext(broker, { topic, by: group }, next)),
    ...tiers.map((topic) => readNext(broker, { topic, by: retryGroup(group) }, next)),
  ]);
  return next;
}

async function readNext(broker: Broker, { topic, by }: { topic: string; by: string }, next: Next): Promise<void> {
  const committed = [...(await broker.committed(by, topic))];
  const ranges = new Map(committed.map(([partition, from]) => [partition, { from, to: from + 1 }]));
  const onUnreadable = (batch: UnreadableBatch) => {
    if (batch.digest === null) next.blocked.push(batch);
  };
  for await (const record of topicRecords(broker, topic, { ranges, onUnreadable })) next.records.push(record);
}

/** A delivery in a tier is done within seconds of its due time, or is in the next tier. */
function overdue(records: readonly ReceivedRecord[], { tierOf }: Topics, now: number): Finding[] {
  const late = new Map<string, number>();
  for (const record of records) {
    const tier = tierOf(record.topic);
    if (!tier) continue;
    const at = isTime(record.timestamp) ? record.timestamp : now;
    const overdueMs = now - Math.min(dueOf(record) || at, at + longestWaitMs(tier));
    if (overdueMs > OVERDUE_MS) late.set(record.topic, Math.max(overdueMs, late.get(record.topic) ?? 0));
  }
  return [...late].map(([topic, ms]) =>
    warn(
      `${topic} has a record that has been due for ${Math.round(ms / 60_000)} min: no dispatcher reads it`,
      START_ONE,
    ),
  );
}

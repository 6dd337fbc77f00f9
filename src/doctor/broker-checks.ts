/**
 * Checks of the broker: its topics, their retention, whether the clocks agree; and the next record of each partition, which
 * the broker may be unable to read, or which waits in a retry tier that nobody reads.
 */

import { TookTooLong, withinTime } from '../adapters/common/time-limit.js';
import type { InspectedTopic, Inspection, InspectionOf } from '../adapters/kafka/inspection.js';
import { ENOUGH_BYTES, MAKE_ANEW, notOrderedText } from '../adapters/kafka/topic-config.js';
import { dueOf } from '../delivery/delivery.js';
import { longestTierMs, longestWaitMs } from '../delivery/retry/retry-schedule.js';
import { existingTiers } from '../delivery/retry/tiers.js';
import {
  blockedText,
  END_THE_TRANSACTION,
  heldBackText,
  MEND_THE_LOG,
  noticeGroup,
  OWN_GROUP,
  recoveryGroup,
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

import type { Config, KafkaConfig } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

/** @throws BrokerUnavailable, BrokerRefused */
export type Inspect = (of: InspectionOf, kafka: KafkaConfig) => Promise<Inspection>;
/** When the embedded broker's newest record was published, ms since the epoch; null if there is none. */
type Newest = () => Promise<number | null>;

const SKEW_MS = 5_000;
const SET_CLOCKS = 'synchronize the clocks of this machine and of the publishers by NTP';

export function brokerChecks(config: Config, inspect: Inspect, newest: Newest, now: () => number): Check[] {
  const { kafka } = config;
  if (kafka) return [{ name: 'broker', run: () => kafkaFindings(config, kafka, inspect, now) }];
  return [{ name: 'broker', run: async () => [embedded(await newest(), now())] }];
}

function embedded(newest: number | null, now: number): Finding {
  if (newest === null) return ok('embedded, no record yet');
  if (newest <= now + SKEW_MS) return ok('embedded');
  const hence = Math.round((newest - now) / 1_000);
  return warn(`the newest record is ${hence} s in the future: the clock was set back or is behind`, SET_CLOCKS);
}

async function kafkaFindings(config: Config, kafka: KafkaConfig, inspect: Inspect, now: () => number) {
  const { delivery, retrySchedule, paymentTopics, topicPrefix } = config;
  const topics = topicsOf(paymentTopics, topicPrefix);
  const { retry, deferred } = topics.tiers(retrySchedule);
  const tiers = [...retry, ...deferred].map(({ topic }) => topic);
  const others = [topics.deadLetters, topics.deliveries, topics.requests, topics.notices];
  const wanted = [...new Set([...topics.payments, ...tiers, ...others])];
  const { group } = delivery;
  const groups = [group, retryGroup(group), recoveryGroup(group), noticeGroup(group)];
  const found = await inspect({ topics: wanted, groups, laterThan: now() + SKEW_MS }, kafka);
  const missing = wanted.filter((name) => !found.topics.some((topic) => topic.name === name));
  const needs = {
    partitions: kafka.partitions,
    retentionMs: kafka.retentionMs,
    longestMs: longestTierMs(retrySchedule),
    isOwn: topics.isOwn,
    isOrdered: topics.isOrdered,
  };
  return [
    ok(`Kafka answers (${found.brokers} ${found.brokers === 1 ? 'broker' : 'brokers'}) and accepts the credentials`),
    ...(missing.length > 0 ? [notThere(missing)] : []),
    ...found.unledGroups.map(unled),
    ...found.foreign.map((says) => fail(says, OWN_GROUP)),
    ...topicFindings(found.topics, needs),
  ];
}

function unled(group: string): Finding {
  const says = `no broker leads the consumer group ${group}: a permission is missing, or the brokers are unhealthy`;
  return fail(says, 'grant READ and DESCRIBE on the group, or check the brokers');
}

function notThere(topics: readonly string[]): Finding {
  const are = topics.length === 1 ? 'is' : 'are';
  return warn(`${topics.join(', ')} ${are} missing`, 'nothing if serve may create topics: it does so at its start');
}

interface Needs {
  readonly partitions: number;
  readonly retentionMs: number;
  readonly longestMs: number;
  readonly isOwn: (topic: string) => boolean;
  readonly isOrdered: (topic: string) => boolean;
}

function topicFindings(topics: readonly InspectedTopic[], needs: Needs): Finding[] {
  const findings = topics.flatMap((topic) => [
    ...availability(topic),
    ...divided(topic, needs),
    ...kept(topic, needs),
    ...keeping(topic, needs.isOwn(topic.name)),
  ]);
  const sound = `${topics.length} topics are set up as needed`;
  return findings.length > 0 || topics.length === 0 ? findings : [ok(sound)];
}

function keeping(topic: InspectedTopic, isOwn: boolean): Finding[] {
  const { name, isCompacted, isStampedByBroker, maxMessageBytes, minInsyncReplicas, replicas } = topic;
  const bySelf = isOwn ? '; serve does so at its start if it may' : '';
  const lost = isOwn
    ? 'deliveries that wait, or their proofs, are removed'
    : "of an account's payments only the last is kept";
  const clock = `${name} has message.timestamp.type=CreateTime: its retention depends on this machine's clock`;
  const small = `${name} has max.message.bytes=${maxMessageBytes}: it may refuse large events`;
  const raise = isOwn
    ? fail(small, `set max.message.bytes=${ENOUGH_BYTES} on it${bySelf}`)
    : warn(small, `raise it to ${ENOUGH_BYTES} or more`);
  const single = `${name} has ${replicas} replicas and min.insync.replicas=1: if one broker is lost, so may be what it alone has`;
  return [
    ...(isCompacted ? [fail(`${name} is compacted: ${lost}`, `set cleanup.policy=delete on it${bySelf}`)] : []),
    ...(isOwn && !isStampedByBroker ? [fail(clock, `set message.timestamp.type=LogAppendTime on it${bySelf}`)] : []),
    ...(maxMessageBytes < ENOUGH_BYTES ? [raise] : []),
    ...(replicas > 1 && minInsyncReplicas < 2 ? [warn(single, 'set min.insync.replicas=2 on it')] : []),
  ];
}

function availability({ name, leaderless, underReplicated, hasLater }: InspectedTopic): Finding[] {
  const later = `${name} has records from the future: the clock of this machine is behind, or that of a publisher is ahead`;
  return [
    ...(leaderless > 0 ? [fail(`${name}: ${leaderless} partitions have no leader`, 'check the brokers')] : []),
    ...(underReplicated > 0
      ? [warn(`${name}: ${underReplicated} partitions lack a replica`, 'check the brokers')]
      : []),
    ...(hasLater ? [warn(later, SET_CLOCKS)] : []),
  ];
}

function divided({ name, partitions }: InspectedTopic, needs: Needs): Finding[] {
  if (needs.isOrdered(name)) return partitions > 1 ? [fail(notOrderedText(name, partitions), MAKE_ANEW)] : [];
  const few = `${name} has ${partitions} partitions, fewer than KAFKA_PARTITIONS (${needs.partitions})`;
  return partitions < needs.partitions ? [warn(few, 'add partitions to it, or lower KAFKA_PARTITIONS')] : [];
}

function kept({ name, retentionMs }: InspectedTopic, needs: Needs): Finding[] {
  const hours = (ms: number) => `${(ms / 3_600_000).toFixed(1)} h`;
  const keptMs = retentionMs ?? Number.POSITIVE_INFINITY;
  const raise = `raise retention.ms of the topic to ${needs.retentionMs + needs.longestMs}`;
  const keeps = `${name} keeps records for ${hours(keptMs)}`;
  if (keptMs <= needs.longestMs) return [fail(`${keeps}: waiting records are lost before their retry`, raise)];
  const isShort = keptMs < needs.retentionMs + needs.longestMs;
  return isShort ? [warn(`${keeps}, less than KAFKA_RETENTION plus the longest retry delay`, raise)] : [];
}

/** Shorter than a check's limit: if Kafka can't be used, the broker check says so. */
const LOOK_WITHIN_MS = 8_000;
/** A dispatcher finds a new tier within a minute. */
const OVERDUE_MS = 120_000;
const GRANT_READ = 'grant READ on the payment and retry topics, and DESCRIBE on the groups of KAFKA_GROUP';
const START_ONE = 'start a dispatcher with this TOPIC_PREFIX and KAFKA_GROUP; if one runs, see its log';

/** @param openBroker null if none exists yet */
export function partitionChecks(config: Config, openBroker: () => Promise<Broker | null>, now: () => number): Check[] {
  return [{ name: 'partitions', run: async () => findings(config, await openBroker(), now()) }];
}

async function findings(config: Config, broker: Broker | null, now: number): Promise<Finding[]> {
  if (!broker) return [];
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  try {
    const [next, held] = await withinTime(LOOK_WITHIN_MS, look(config, broker, topics));
    const found = [
      ...next.blocked.map((batch) => fail(blockedText(batch), MEND_THE_LOG)),
      ...held,
      ...overdue(next.records, topics, now),
    ];
    return found.length > 0 ? found : [ok('no partition waits for its broker, and no retry tier is without a reader')];
  } catch (error) {
    if (error instanceof PermissionDenied) return [warn(error.message, GRANT_READ)];
    if (error instanceof TookTooLong) return [warn('not checked: the broker took too long', 'run doctor again')];
    // The check of the broker says so.
    if (error instanceof BrokerUnavailable) return [];
    throw error;
  }
}

/** A transaction that is open before and after the other reads lasts for seconds; short ones are no finding. */
async function look(config: Config, broker: Broker, topics: Topics): Promise<[Next, Finding[]]> {
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
async function nextRecords({ delivery: { group } }: Config, broker: Broker, topics: Topics): Promise<Next> {
  const tiers = await existingTiers({ broker, topics });
  const next: Next = { records: [], blocked: [] };
  // Concurrently: each topic is a group of its own, and Kafka delays a new group by three seconds.
  await Promise.all([
    ...topics.payments.map((topic) => readNext(broker, { topic, by: group }, next)),
    ...[...tiers, topics.requests].map((topic) => readNext(broker, { topic, by: retryGroup(group) }, next)),
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

/** Of a request. */
const AT_ONCE = { text: '0s', ms: 0 };

/** A delivery in a tier, or that was asked for, is done within seconds of its due time, or is in the next tier. */
function overdue(records: readonly ReceivedRecord[], { tierOf, requests }: Topics, now: number): Finding[] {
  const late = new Map<string, number>();
  for (const record of records) {
    const tier = record.topic === requests ? AT_ONCE : tierOf(record.topic);
    if (!tier) continue;
    const at = isTime(record.timestamp) ? record.timestamp : now;
    const overdueMs = now - Math.min(dueOf(record) || at, at + longestWaitMs(tier));
    if (overdueMs > OVERDUE_MS) late.set(record.topic, Math.max(overdueMs, late.get(record.topic) ?? 0));
  }
  const says = (ms: number) =>
    `has a record that has been due for ${Math.round(ms / 60_000)} min: no dispatcher reads it`;
  return [...late].map(([topic, ms]) => warn(`${topic} ${says(ms)}`, START_ONE));
}

/** Checks of the broker: its topics and their retention. */
import type { BlockedRecords, InspectedTopic, Inspection, InspectionOf } from '../adapters/kafka/inspection.js';
import { ENOUGH_BYTES, MAKE_ANEW, notOrderedText } from '../adapters/kafka/topic-config.js';
import { longestTierMs } from '../delivery/retry/retry-schedule.js';
import {
  END_THE_TRANSACTION,
  noticeGroup,
  OWN_GROUP,
  recoveryGroup,
  retryGroup,
  topicsOf,
} from '../delivery/topics.js';
import type { Config } from '../settings/read-config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';
import { clockFindings } from './clock-findings.js';

/** @throws BrokerUnavailable, BrokerRefused */
export type Inspect = (of: InspectionOf, brokers: readonly string[]) => Promise<Inspection>;

/** @param now ms since the epoch */
export function brokerCheck(config: Config, inspect: Inspect, now: () => number): Check {
  const { BROKER_URL: brokers } = config;
  return { name: 'broker', run: () => (brokers ? kafkaFindings(config, brokers, inspect, now) : [ok('embedded')]) };
}

async function kafkaFindings(config: Config, brokers: readonly string[], inspect: Inspect, now: () => number) {
  const { KAFKA_GROUP: group, RETRY_SCHEDULE: schedule } = config;
  const topics = topicsOf(config.PAYMENT_TOPICS, config.TOPIC_PREFIX);
  const { retry, deferred } = topics.tiers(schedule);
  const tiers = [...retry, ...deferred].map(({ topic }) => topic);
  const others = [topics.deadLetters, topics.deliveries, topics.requests, topics.notices];
  const wanted = [...new Set([...topics.payments, ...tiers, ...others])];
  const groups = [group, retryGroup(group), recoveryGroup(group), noticeGroup(group)];
  const tiersOf = { group: retryGroup(group), isTier: topics.isTier };
  const of = { topics: wanted, groups, tiers: tiersOf, transactional: topics.payments, stamped: topics.deliveries };
  const found = await inspect(of, brokers);
  const missing = wanted.filter((name) => !found.topics.some((topic) => topic.name === name));
  const needs = {
    partitions: config.KAFKA_PARTITIONS,
    retentionMs: config.KAFKA_RETENTION,
    longestMs: longestTierMs(schedule),
    isOwn: topics.isOwn,
    isOrdered: topics.isOrdered,
  };
  return [
    ok(`Kafka answers (${found.brokers} ${found.brokers === 1 ? 'broker' : 'brokers'}) and accepts the credentials`),
    ...(missing.length > 0 ? [notThere(missing)] : []),
    ...found.unledGroups.map(unled),
    ...found.foreign.map((says) => fail(says, OWN_GROUP)),
    ...found.unreadTiers.map(unread),
    ...found.blocked.map(blocked),
    ...clockFindings(found.newest, now()),
    ...topicFindings(found.topics, needs),
  ];
}

function unled(group: string): Finding {
  const says = `no broker leads the consumer group ${group}: a permission is missing, or the brokers are unhealthy`;
  return fail(says, 'grant READ and DESCRIBE on the group, or check the brokers');
}

function unread({ topic, records }: Inspection['unreadTiers'][number]): Finding {
  const says = `${records} records wait in ${topic}, which no dispatcher reads`;
  return warn(says, 'start a dispatcher; if one has been running for a minute, its log has the reason');
}

function blocked({ topic, partition, offset, records }: BlockedRecords): Finding {
  const says = `partition ${partition} of ${topic} blocks ${records} records from offset ${offset} on, for an open transaction`;
  return warn(says, END_THE_TRANSACTION);
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
    ...records(topic, needs.isOwn(topic.name)),
    ...divided(topic, needs),
    ...kept(topic, needs),
  ]);
  return findings.length > 0 || topics.length === 0 ? findings : [ok(`${topics.length} topics are set up as needed`)];
}

/** Those that are. */
const found = (...findings: readonly (Finding | false)[]): Finding[] => findings.filter((one) => one !== false);

function availability({ name, leaderless, underReplicated, replicas, minInsyncReplicas }: InspectedTopic) {
  const single = `${name} has ${replicas} replicas and min.insync.replicas=1: if one broker is lost, so may be what it alone has`;
  return found(
    leaderless > 0 && fail(`${name}: ${leaderless} partitions have no leader`, 'check the brokers'),
    underReplicated > 0 && warn(`${name}: ${underReplicated} partitions lack a replica`, 'check the brokers'),
    replicas > 1 && minInsyncReplicas < 2 && warn(single, 'set min.insync.replicas=2 on it'),
  );
}

function records({ name, isCompacted, isStampedByBroker, maxMessageBytes }: InspectedTopic, isOwn: boolean) {
  const lost = isOwn
    ? 'deliveries that wait, or their proofs, are removed'
    : "of an account's payments only the last is kept";
  const clock = `${name} has message.timestamp.type=CreateTime: its retention depends on this machine's clock`;
  const small = `${name} has max.message.bytes=${maxMessageBytes}: it may refuse large events`;
  return found(
    isCompacted && fail(`${name} is compacted: ${lost}`, 'set cleanup.policy=delete on it'),
    isOwn && !isStampedByBroker && fail(clock, 'set message.timestamp.type=LogAppendTime on it'),
    maxMessageBytes < ENOUGH_BYTES && (isOwn ? fail : warn)(small, `raise it to ${ENOUGH_BYTES} or more`),
  );
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

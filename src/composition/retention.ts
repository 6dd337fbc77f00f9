/** How long payments are kept, from the settings: deletes them from store.sqlite, and reads them back from their topics. */
import { LRUCache } from 'lru-cache';
import { type RetentionRules, Sweeper } from '../adapters/sqlite/sweeper.js';
import { createPublishedPayloads, type RecordOffset } from '../delivery/record-place.js';
import { longestTierMs } from '../delivery/retry/retry-schedule.js';
import { noticeGroup, retryGroup, type Topics } from '../delivery/topics.js';
import type { Logger } from '../observability/logger.js';
import type { PublishedPayloads } from '../ports/published-payloads.js';
import type { Config } from '../settings/read-config.js';
import { sleep } from '../time/retry.js';
import { type Backbone, kafkaSettings } from './backbone.js';

/** A topic's retention.ms may be changed at any time. */
const REMEMBERED_MS = 60_000;
const MOST_TOPICS = 1_000;
const MAX_TOPIC_LENGTH = 249;

/** Returns at once; null if neither the store nor the broker is embedded. */
export function startRetention(config: Config, { embedded, topics }: Backbone, logger: Logger): Sweeper | null {
  if (!embedded) return null;
  const rules = retentionRules(config, topics);
  const sweeper = new Sweeper({ store: embedded, rules, logger, now: Date.now, pause: sleep });
  sweeper.start();
  return sweeper;
}

/** As on Kafka: a record that waited in a tier stays visible as long after its end as any other. Null: no limit by time. */
export function keptMs({ BROKER_RETENTION, RETRY_SCHEDULE }: Config): number | null {
  return BROKER_RETENTION === 0 ? null : BROKER_RETENTION + longestTierMs(RETRY_SCHEDULE);
}

function retentionRules(config: Config, topics: Topics): RetentionRules {
  const { KAFKA_GROUP: group } = config;
  return {
    keptMs: keptMs(config),
    groupsOf(topic) {
      if (topics.payments.includes(topic)) return [group];
      if (topic === topics.notices) return [noticeGroup(group)];
      return topics.isTier(topic) || topic === topics.requests ? [retryGroup(group)] : [];
    },
  };
}

/** @param skipped counts a payment that is not read, because its topic or partition does not exist */
export function publishedPayloads(
  config: Config,
  { broker, topics: { payments: topics } }: Backbone,
  logger: Logger,
  skipped: () => void,
): PublishedPayloads {
  return createPublishedPayloads(broker, {
    topics,
    keptMs: config.BROKER_URL ? kafkaRetention(config, config.BROKER_URL, logger) : async () => keptMs(config),
    impossible: skipping(logger, skipped),
  });
}

/** Logs a topic once. */
function skipping(logger: Logger, skipped: () => void): (place: RecordOffset) => void {
  const logged = new LRUCache<string, true>({ max: MOST_TOPICS });
  return ({ topic, partition }) => {
    skipped();
    // Of any length: another program has written it.
    const name = topic.slice(0, MAX_TOPIC_LENGTH);
    if (logged.has(name)) return;
    logged.set(name, true);
    logger.warn(
      { topic: name, partition },
      'entries of the deliveries topic name a payment topic or a partition that does not exist; not read',
    );
  };
}

function kafkaRetention(
  config: Config,
  brokers: readonly [string, ...string[]],
  logger: Logger,
): (topic: string) => Promise<number | null> {
  const settings = kafkaSettings(config, brokers);
  const known = new LRUCache<string, Promise<number | null>>({ max: MOST_TOPICS, ttl: REMEMBERED_MS });
  const ask = async (topic: string): Promise<number | null> => {
    const { topicRetentionMs } = await import('../adapters/kafka/inspection.js');
    return topicRetentionMs(settings, logger, topic).catch((error: unknown) => {
      logger.warn({ err: error, topic }, 'the retention of a payment topic is not known');
      return null;
    });
  };
  return (topic) => {
    const answer = known.get(topic) ?? ask(topic);
    if (!known.has(topic)) known.set(topic, answer);
    return answer;
  };
}

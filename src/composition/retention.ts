/** How long payments are kept, from the settings: deletes them from store.sqlite, and reads them back from their topics. */
import { LRUCache } from 'lru-cache';
import { type RetentionRules, Sweeper } from '../adapters/sqlite/sweeper.js';
import { createPublishedPayloads } from '../delivery/record-place.js';
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

export function publishedPayloads(config: Config, { broker, topics }: Backbone, logger: Logger): PublishedPayloads {
  const { BROKER_URL: brokers } = config;
  if (!brokers) return createPublishedPayloads(broker, topics.payments, async () => keptMs(config));
  const settings = kafkaSettings(config, brokers);
  const known = new LRUCache<string, Promise<number | null>>({ max: MOST_TOPICS, ttl: REMEMBERED_MS });
  const ask = async (topic: string): Promise<number | null> => {
    const { topicRetentionMs } = await import('../adapters/kafka/inspection.js');
    return topicRetentionMs(settings, logger, topic).catch((error: unknown) => {
      logger.warn({ err: error, topic }, 'the retention of a payment topic is not known');
      return null;
    });
  };
  return createPublishedPayloads(broker, topics.payments, (topic) => {
    const answer = known.get(topic) ?? ask(topic);
    if (!known.has(topic)) known.set(topic, answer);
    return answer;
  });
}

/** Reads payments back from their topics, and knows how long these keep them. */
import { LRUCache } from 'lru-cache';
import { createPublishedPayloads } from '../delivery/record-place.js';
import type { Logger } from '../observability/logger.js';
import type { PublishedPayloads } from '../ports/published-payloads.js';
import type { Config } from '../settings/config.js';
import type { Backbone } from './backbone.js';
import { kafkaSettings } from './backbone.js';
import { keptMs } from './retention.js';

/** A topic's retention.ms may be changed at any time. */
const REMEMBERED_MS = 60_000;
const MOST_TOPICS = 1_000;

export function publishedPayloads(config: Config, { broker }: Backbone, logger: Logger): PublishedPayloads {
  const { kafka } = config;
  if (!kafka) return createPublishedPayloads(broker, async () => keptMs(config));
  const settings = kafkaSettings(config, kafka);
  const known = new LRUCache<string, Promise<number | null>>({ max: MOST_TOPICS, ttl: REMEMBERED_MS });
  const ask = async (topic: string): Promise<number | null> => {
    const { topicRetentionMs } = await import('../adapters/kafka/inspection.js');
    return topicRetentionMs(settings, logger, topic).catch((error: unknown) => {
      logger.warn({ err: error, topic }, 'the retention of a payment topic is not known');
      return null;
    });
  };
  return createPublishedPayloads(broker, (topic) => {
    const answer = known.get(topic) ?? ask(topic);
    if (!known.has(topic)) known.set(topic, answer);
    return answer;
  });
}

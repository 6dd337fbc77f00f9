/** Retention of store.sqlite: the rules for deletion, from the settings. */
import { type RetentionRules, Sweeper } from '../adapters/sqlite/sweeper.js';
import { longestDelayMs, longestWaitMs } from '../delivery/retry/retry-schedule.js';
import { noticeGroup, recoveryGroup, retryGroup, topicsOf } from '../delivery/topics.js';
import type { Logger } from '../observability/logger.js';
import type { Config } from '../settings/config.js';
import { sleep } from '../time/retry.js';
import type { Backbone } from './backbone.js';

/** Returns at once; null if neither the store nor the broker is embedded. */
export function startRetention(config: Config, { embedded }: Backbone, logger: Logger): Sweeper | null {
  if (!embedded) return null;
  const sweeper = new Sweeper({
    store: embedded,
    rules: retentionRules(config),
    logger,
    now: Date.now,
    pause: sleep,
  });
  sweeper.start();
  return sweeper;
}

/** As on Kafka: a record that waited in a tier stays visible as long after its end as any other. Null: no limit by time. */
export function keptMs({ retention, retrySchedule }: Config): number | null {
  return retention.keptMs === null ? null : retention.keptMs + longestDelayMs(retrySchedule);
}

function retentionRules(config: Config): RetentionRules {
  const { retention, retrySchedule, delivery, paymentTopics, topicPrefix } = config;
  const topics = topicsOf(paymentTopics, topicPrefix);
  const longestMs = Math.max(...retrySchedule.map(longestWaitMs));
  return {
    keptMs: keptMs(config),
    mostBytes: retention.mostBytes,
    groupsOf(topic) {
      if (topics.payments.includes(topic)) return [delivery.group];
      if (topic === topics.recoveries) return [recoveryGroup(delivery.group)];
      if (topic === topics.notices) return [noticeGroup(delivery.group)];
      return topics.isTier(topic) ? [retryGroup(delivery.group)] : [];
    },
    // The retry records that these marks supersede are held too.
    heldSince: (topic) => (topic === topics.superseded ? Date.now() - longestMs : Number.POSITIVE_INFINITY),
  };
}

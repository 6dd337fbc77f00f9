/** What the API knows of deliveries, and the test events it sends itself. */
import { randomUUID } from 'node:crypto';
import { openDeliveriesView } from '../adapters/sqlite/deliveries-view.js';
import { RecordLog } from '../adapters/sqlite/record-log.js';
import type { Backbone } from '../backbone.js';
import { createDeliverySecrets } from '../delivery/attempt/delivery-secrets.js';
import { createSendTestEvent, type SendTestEvent } from '../delivery/attempt/test-event.js';
import { ViewFollower } from '../delivery/log/view-follower.js';
import { longestDelayMs } from '../delivery/retry/retry-schedule.js';
import { topicsOf } from '../delivery/topics.js';
import type { Config } from '../settings/config.js';
import type { Core, Stop } from './core.js';
import { openAttempt } from './delivery-attempt.js';

/** Returns at once, whether the broker can be reached or not. */
export function followDeliveries(core: Core, stops: Stop[]): ViewFollower {
  const { config, logger, backbone } = core;
  const topic = topicsOf(config.paymentTopics, config.topicPrefix).deliveries;
  const followed = new ViewFollower({
    broker: backbone.broker,
    open: () =>
      openDeliveriesView(config.dataDir, (file) =>
        logger.warn({ file }, 'the deliveries view is damaged or from another release: rebuilding it'),
      ),
    topic,
    group: config.delivery.group,
    lostBefore: lostBefore(config, backbone, topic),
    logger,
  });
  followed.start();
  core.metrics.watch.consumer('deliveries-view', () => followed.state().consumer);
  core.readiness.part('deliveries view', () => followed.state().why, { needed: false });
  stops.push(() => followed.close());
  return followed;
}

/** @param interrupt aborted when tests under way have to end */
export function testEvents(core: Core, interrupt: AbortSignal, stops: Stop[]): SendTestEvent {
  const { accounts, backbone } = core;
  return createSendTestEvent({
    attempt: openAttempt(core, stops),
    configuration: createDeliverySecrets(accounts, backbone.sealing, Date.now),
    newId: randomUUID,
    now: Date.now,
    interrupt,
  });
}

/** Kafka keeps records as long as its topics are made with; the embedded broker tells what it has. */
function lostBefore({ kafka, retrySchedule }: Config, { embedded }: Backbone, topic: string): () => number | null {
  if (kafka) return () => Date.now() - kafka.retentionMs - longestDelayMs(retrySchedule);
  const log = embedded && new RecordLog(embedded);
  return () => log?.completeSince(topic) ?? null;
}

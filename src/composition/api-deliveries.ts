/** What the API knows of deliveries, and the test events it sends itself. */
import { randomUUID } from 'node:crypto';
import { openDeliveriesView } from '../adapters/sqlite/deliveries-view.js';
import type { Config } from '../config.js';
import { createAttempt } from '../delivery/attempt.js';
import { createOpenConfiguration } from '../delivery/configuration.js';
import { FollowedView } from '../delivery/deliveries-view.js';
import { createSendTestEvent, type SendTestEvent } from '../delivery/test-event.js';
import { topicsOf } from '../delivery/topics.js';
import type { Core, Stop } from './core.js';
import { openDeliveryAgent } from './delivery-agent.js';

/** Returns at once, whether the broker can be reached or not. */
export function followDeliveries({ config, logger, backbone }: Core, stops: Stop[]): FollowedView {
  const followed = new FollowedView({
    broker: backbone.broker,
    open: () =>
      openDeliveriesView(config.dataDir, (file) =>
        logger.warn({ file }, 'the deliveries view was damaged: it is thrown away and filled anew'),
      ),
    topic: topicsOf(config.paymentTopics, config.topicPrefix).deliveries,
    group: config.delivery.group,
    keptMs: keptMs(config),
    now: Date.now,
    logger,
  });
  followed.start();
  stops.push(() => followed.close());
  return followed;
}

/** @param interrupt aborted when tests under way have to end */
export function testEvents(core: Core, interrupt: AbortSignal, stops: Stop[]): SendTestEvent {
  const { config, accounts, backbone } = core;
  const agent = openDeliveryAgent(core, stops);
  const { timeoutMs } = config.delivery;
  return createSendTestEvent({
    attempt: createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'account-webhooks' }),
    configuration: createOpenConfiguration(accounts, backbone.sealing, Date.now),
    newId: randomUUID,
    now: Date.now,
    interrupt,
  });
}

/** The embedded broker keeps every record; Kafka as long as its topics are made with. */
function keptMs({ kafka, retrySchedule }: Config): number | null {
  return kafka && kafka.retentionMs + Math.max(...retrySchedule.map(({ ms }) => ms));
}

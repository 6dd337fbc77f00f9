/** The API's view of deliveries, and its sender of test events. */
import { randomUUID } from 'node:crypto';
import { openDeliveriesView } from '../adapters/sqlite/deliveries-view.js';
import { RecordLog } from '../adapters/sqlite/record-log.js';
import { RecoveryRunner, toRecoveryRecord } from '../delivery/again/recovery-runner.js';
import { cancelDelivery, createSendAgain } from '../delivery/again/send-again.js';
import { createDeliverySecrets } from '../delivery/attempt/delivery-secrets.js';
import { createSendTestEvent, type SendTestEvent } from '../delivery/attempt/test-event.js';
import { webhookMessageId } from '../delivery/delivery.js';
import { ViewFollower } from '../delivery/log/view-follower.js';
import { longestDelayMs } from '../delivery/retry/retry-schedule.js';
import { topicsOf } from '../delivery/topics.js';
import type { DeliveryDetail } from '../ports/deliveries-view.js';
import type { RecoveryOrder } from '../ports/send-again.js';
import type { Config } from '../settings/config.js';
import { AccountBuckets } from '../webhooks/account-buckets.js';
import type { Backbone } from './backbone.js';
import type { Core, Stop } from './core.js';

/** Of an account, by all of its recoveries in this process. */
const RECOVERED_PER_SECOND = 100;

/** Returns at once, even if the broker is unreachable. */
export function followDeliveries(core: Core, stops: Stop[]): ViewFollower {
  const { config, logger, backbone, accounts } = core;
  const topic = topicsOf(config.paymentTopics, config.topicPrefix).deliveries;
  const followed = new ViewFollower({
    broker: backbone.broker,
    open: () =>
      openDeliveriesView(
        config.dataDir,
        (file) => logger.warn({ file }, 'the deliveries view is damaged or from another release: rebuilding it'),
        { deliveryIdOf: webhookMessageId, isRemoved: accounts.isRemoved },
      ),
    topic,
    lostBefore: lostBefore(config, backbone, topic),
    logger,
  });
  followed.start();
  core.metrics.watch.consumer('deliveries-view', () => followed.state().consumer);
  core.readiness.part('deliveries view', () => followed.state().why, { needed: false });
  stops.push(() => followed.close());
  return followed;
}

/** What the API sends again, and the recoveries that this process runs. */
export function sendingAgain(core: Core, deliveries: ViewFollower, stops: Stop[]) {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const { broker } = backbone;
  const topics = topicsOf(config.paymentTopics, config.topicPrefix);
  const sendAgain = createSendAgain({ broker, topics, accounts, schedule: config.retrySchedule, now: Date.now });
  const monotonicNow = () => performance.now();
  const sends = new AccountBuckets({ holdsMs: 1_000, now: monotonicNow });
  const runner = new RecoveryRunner({
    ...{ broker, topics, group: config.delivery.group, view: deliveries, accounts, sendAgain, handleCommand, logger },
    now: Date.now,
    monotonicNow,
    takeSend: (accountId) => sends.take(accountId, 1_000 / RECOVERED_PER_SECOND),
  });
  runner.start();
  stops.push(() => runner.close());
  return {
    sendAgain,
    cancel: (delivery: DeliveryDetail) => cancelDelivery({ broker, topics }, delivery),
    orderRecovery: (order: RecoveryOrder) => broker.publish(topics.recoveries, [toRecoveryRecord(order)]),
  };
}

/** @param interrupt aborted when tests in progress must end */
export function testEvents(core: Core, interrupt: AbortSignal): SendTestEvent {
  const { accounts, attempt, backbone, breakers } = core;
  return createSendTestEvent({
    attempt,
    breakers,
    configuration: createDeliverySecrets(accounts, backbone.sealing, Date.now),
    newId: randomUUID,
    now: Date.now,
    interrupt,
  });
}

/** On Kafka: the retention that topics are created with. The embedded broker knows its oldest record. */
function lostBefore({ kafka, retrySchedule }: Config, { embedded }: Backbone, topic: string): () => number | null {
  if (kafka) return () => Date.now() - kafka.retentionMs - longestDelayMs(retrySchedule);
  const log = embedded && new RecordLog(embedded);
  return () => log?.completeSince(topic) ?? null;
}

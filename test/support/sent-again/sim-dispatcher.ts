/** A dispatcher's parts, put together as src/delivery/dispatcher.ts does; what waits there by timers waits for the kernel here. */
import { requestIn } from '../../../src/delivery/again/request.js';
import { Requests } from '../../../src/delivery/again/requests.js';
import { type Delivery, fromRetryRecord } from '../../../src/delivery/delivery.js';
import { createDeliver, type Deliver } from '../../../src/delivery/delivery-attempt.js';
import { progressIn } from '../../../src/delivery/delivery-progress.js';
import type { EndpointHealth } from '../../../src/delivery/endpoint-health.js';
import { createFanOut, type FanOutParts } from '../../../src/delivery/fan-out.js';
import { DeliveryScheduler, type SchedulerParts } from '../../../src/delivery/isolation/delivery-scheduler.js';
import { LogWriter } from '../../../src/delivery/log/log-writer.js';
import { passOn } from '../../../src/delivery/retry/waiting.js';
import { eachStepOnce } from '../../../src/delivery/steps-once.js';
import type { RecordHandler } from '../../../src/ports/broker.js';
import { noDeliveryMetrics } from '../no-metrics.js';
import { silentLogger } from '../silent-logger.js';
import type { Process } from './kernel.js';
import { receive } from './receivers.js';
import { SCHEDULE, TIERS, TIMEOUT_MS, TOPICS } from './settings.js';
import { SimReadModel, STORE } from './sim-account.js';
import type { World } from './world.js';

const NO_HEALTH = { succeeded: () => undefined, failed: () => undefined } as unknown as EndpointHealth;

export function startDispatcher(world: World, one: Process): void {
  const requests = requestsOf(world, one);
  const parts = partsOf(world, one, requests);
  const deliver = watched(world, one, parts, requests);
  const retry = world.planted === 'no-deferrals-in-the-identity' ? withoutDeferrals(deliver) : eachStepOnce(deliver);
  const taken: RecordHandler = async (record, hold) => {
    const request = record.topic === TOPICS.requests ? requestIn(record) : null;
    if (request) requests.learn(record);
    if (request?.cancels) return;
    if (request) return void (await retry(request.delivery, hold));
    const stored = progressIn(record);
    const delivery = fromRetryRecord(record, stored);
    if (!stored || !delivery || (await passOn(parts, TIERS, delivery, stored))) return;
    await retry(delivery, hold);
  };
  world.known.dispatcherStarts(one, requests);
  void requests.start(new AbortController().signal).then(() => {
    world.known.dispatcherHasRead(one);
    world.groups.payments.join(one, createFanOut(parts, deliver));
    world.groups.retries.join(one, taken);
  });
}

function requestsOf(world: World, one: Process): Requests {
  const broker = world.brokerFor(one);
  const { mostRemembered } = world;
  const isBlind = world.planted === 'no-read-at-the-start';
  const blind = { ...broker, extent: async () => new Map() };
  return new Requests({
    ...{ logger: silentLogger, topics: TOPICS, pause: one.pause, broker: isBlind ? blind : broker },
    ...(mostRemembered !== undefined && { mostRemembered }),
  });
}

function partsOf(world: World, one: Process, requests: Requests): FanOutParts {
  const { kernel } = world;
  const broker = world.brokerFor(one);
  const readModel = new SimReadModel(world.account, one);
  const signals = { abandon: new AbortController().signal, refused: () => undefined };
  const writing = { broker, logger: silentLogger, ...signals };
  const isBlind = world.planted === 'no-head-confirmation';
  return {
    ...{ ...writing, requests, scheduler: schedulerOf(world, one) },
    ...{ topics: TOPICS, schedule: SCHEDULE, timeoutMs: TIMEOUT_MS },
    ...{ accounts: readModel.accounts, wasRemoved: readModel.wasRemoved, handleCommand: readModel.handleCommand },
    configuration: { headers: () => [], secrets: async () => [] },
    catalogue: new Map(),
    sealing: { seal: (value) => value },
    confirmation: { confirmed: isBlind ? () => one.pause(1) : readModel.confirmed },
    log: new LogWriter({ ...writing, topic: TOPICS.deliveries, store: STORE, later: (flush) => one.after(5, flush) }),
    attempt: () => Promise.reject(new Error('each delivery has its own')),
    ...{ health: NO_HEALTH, metrics: { ...noDeliveryMetrics, superseded: () => undefined }, tracing: null },
    ...{ now: () => kernel.now, monotonicNow: () => kernel.now, random: () => kernel.between(0, 99) / 100 },
    interrupt: new AbortController().signal,
  };
}

function schedulerOf(world: World, one: Process): DeliveryScheduler {
  const { kernel } = world;
  const ask = () => world.isHealing || !kernel.chance(0.05);
  const breakers: SchedulerParts['breakers'] = { ask, ended: () => null, openForMs: () => 0, open: 0 };
  const clock = { now: () => kernel.now, after: one.after, close: () => undefined };
  return new DeliveryScheduler({ slots: 256, perEndpoint: 1, breakers, clock, busyMs: () => 0 });
}

/** The real one, seen from all sides. */
function watched(world: World, one: Process, parts: FanOutParts, requests: Requests): Deliver {
  const { known } = world;
  return (delivery, hold) => {
    const step = known.stepBegins(one, delivery, requests);
    let isBehindQueue = false;
    const isBlind = () => isBehindQueue && world.planted === 'asked-only-before-the-queue';
    const deliver = createDeliver({
      ...parts,
      requests: { laterChain: (of) => (isBlind() ? null : step.asks(requests.laterChain(of))) },
      scheduler: {
        async acquire(...asked) {
          const acquisition = await parts.scheduler.acquire(...asked);
          isBehindQueue = true;
          return acquisition;
        },
      },
      broker: {
        publish(...published) {
          step.publishes();
          return parts.broker.publish(...published);
        },
      },
      attempt: () => receive(world, one, delivery, step.attempts()),
      log: {
        add(kind, entry) {
          step.says(entry);
          return parts.log.add(kind, entry);
        },
      },
    });
    return deliver(delivery, hold);
  };
}

function withoutDeferrals(deliver: Deliver): Deliver {
  const once = eachStepOnce((delivery, hold) => deliver((delivery as Bare).whole, hold));
  return (delivery, hold) => once({ ...delivery, deferrals: 0, whole: delivery } as Bare, hold);
}

type Bare = Delivery & { readonly whole: Delivery };

/** The role that delivers, put together by the settings. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.js';
import { createBusyLoop } from '../delivery/busy-loop.js';
import { CircuitBreakers } from '../delivery/circuit-breaker.js';
import { createOpenConfiguration } from '../delivery/configuration.js';
import { type Dispatcher, type DispatcherParts, startDispatcher } from '../delivery/dispatcher.js';
import { EndpointGate, type GateLimits } from '../delivery/endpoint-gate.js';
import { EndpointHealth } from '../delivery/endpoint-health.js';
import { Intake } from '../delivery/intake.js';
import { topicsOf } from '../delivery/topics.js';
import { BrokerRefused, BrokerUnavailable } from '../ports/broker.js';
import type { Core, Stop } from './core.js';
import { openAttempt } from './delivery-attempt.js';

const TRY_AGAIN_MS = 1_000;
/** A clock that nobody sets. */
const steady = { now: () => performance.now(), random: Math.random };

export async function startDispatching(core: Core, stops: Stop[]): Promise<Dispatcher> {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const { delivery } = config;
  const { deactivateAfterMs } = delivery;
  const gate = new EndpointGate({ ...gateLimits(delivery), ...steady, breakers: new CircuitBreakers(steady) });
  const intake = new Intake({ gate, isBusy: createBusyLoop(), now: steady.now });
  const parts = {
    broker: backbone.broker,
    group: delivery.group,
    topics: topicsOf(config.paymentTopics, config.topicPrefix),
    schedule: config.retrySchedule,
    accounts,
    configuration: createOpenConfiguration(accounts, backbone.sealing, Date.now),
    gate,
    intake,
    health: new EndpointHealth({ accounts, handleCommand, logger, now: Date.now, deactivateAfterMs }),
    attempt: openAttempt(core, stops),
    handleCommand,
    logger,
    metrics: core.metrics.delivery,
    tracing: core.tracing,
    now: Date.now,
    random: Math.random,
  } satisfies DispatcherParts;
  core.readiness.part('broker', () => core.brokerContact.why ?? 'it has not answered yet');
  const dispatcher = await untilAvailable(core, () => startDispatcher(parts));
  core.brokerContact.why = null;
  stops.push(() => dispatcher.close());
  watch(core, parts, dispatcher);
  return dispatcher;
}

function watch(
  { metrics, readiness, brokerContact }: Core,
  { gate, intake, topics }: DispatcherParts & { readonly intake: Intake },
  dispatcher: Dispatcher,
): void {
  const nameless = topics.tier({ text: '', ms: 0 });
  metrics.watch.gate(() => ({ ...gate.state, intakeHeld: intake.isHeld }));
  metrics.watch.consumer('payments', () => dispatcher.state().payments);
  metrics.watch.consumer('retries', () => dispatcher.state().retries);
  metrics.watch.tiers(
    () => dispatcher.state().retries,
    (topic) => topic.slice(nameless.length),
  );
  readiness.part('dispatcher', () => null);
  readiness.part('broker', () => {
    const { payments, retries } = dispatcher.state();
    const joined = payments.connected && retries.connected;
    return brokerContact.why ?? (joined ? null : 'its consumers are not in their groups: they try again');
  });
}

/** Tries again while the broker can't be reached; other failures end the start. */
async function untilAvailable<T>({ logger, givenUp, brokerContact }: Core, start: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await Promise.race([start(), givenUp]);
    } catch (error) {
      if (!(error instanceof BrokerUnavailable) || error instanceof BrokerRefused) throw error;
      brokerContact.why = error.message;
      logger.warn({ err: error }, 'the broker is out of reach; trying again');
      await Promise.race([delay(TRY_AGAIN_MS), givenUp]);
    }
  }
}

function gateLimits({ concurrency: total, endpointConcurrency: perEndpoint }: Config['delivery']): GateLimits {
  return { total, perEndpoint, perAccount: Math.max(perEndpoint, Math.ceil(total / 4)) };
}

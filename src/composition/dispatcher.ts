/** Assembles the dispatcher role from the settings. */
import { openRequestChains, removeCorruptRequestChains } from '../adapters/sqlite/request-chains.js';
import { createDeliverySecrets } from '../delivery/attempt/send.js';
import { Backpressure } from '../delivery/backpressure.js';
import { type Dispatcher, startDispatcher, unconfirmedText } from '../delivery/dispatcher.js';
import { EndpointHealth } from '../delivery/endpoint-health.js';
import { DeliveryScheduler } from '../delivery/isolation/delivery-scheduler.js';
import { NoticeWriter } from '../delivery/notices/notice-writer.js';
import { OWN_GROUP } from '../delivery/topics.js';
import { BrokerRefused, BrokerUnavailable } from '../ports/broker.js';
import type { RequestChains } from '../ports/request-chains.js';
import { createWasRemoved } from '../read-model/removed-webhooks.js';
import type { ViewFollower } from '../read-model/view-follower.js';
import { createProcessClock } from '../time/process-clock.js';
import { retry, sleep } from '../time/retry.js';
import type { Core, Stop } from './core.js';

const TRY_AGAIN_MS = 1_000;
/** Between two starts of a dispatcher that Kafka refuses: what it does in between, it may do in vain. */
const LONGEST_PAUSE_MS = 60_000;
const busyMs = () => performance.eventLoopUtilization().active;

interface Dispatching {
  readonly dispatcher: Dispatcher;
  readonly scheduler: DeliveryScheduler;
  readonly backpressure: Backpressure;
}

export interface RunningDispatcher {
  /** Rejected if it died and is not restarted. */
  readonly closed: Promise<void>;
  /** The age of the oldest payment that it could take next, ms; 0: it waits for payments. */
  behindMs(): number;
  /** Whether this process writes the notices: one process of the installation has partition 0 of their topic. */
  writesNotices(): boolean;
}

/** The dispatcher that runs, or the last one that ran. */
interface Current {
  dispatching: Dispatching;
}

/**
 * @param again restart the dispatcher when its consumers die, because other roles in this process continue; otherwise
 * `closed` is rejected
 */
export async function startDispatching(
  core: Core,
  { again }: { readonly again: boolean },
  stops: Stop[],
): Promise<RunningDispatcher> {
  const { brokerContact, readiness, config, logger } = core;
  readiness.part('broker', () => brokerContact.why ?? 'no answer yet');
  const onDamaged = (file: string) =>
    logger.warn({ file }, 'the file of requests is damaged: reading their topic again');
  await removeCorruptRequestChains(config.DATA_DIR, onDamaged);
  const requestChains = openRequestChains(config.DATA_DIR, onDamaged);
  stops.push(() => requestChains.close());
  // Requests are kept in memory meanwhile: if deliveries have to wait, the dispatcher is not ready.
  readiness.part('requests', () => requestChains.trouble, { needed: false });
  const begin = () => beginDispatching(core, requestChains);
  const current = { dispatching: await untilAvailable(core, begin) };
  brokerContact.why = null;
  const stopping = new AbortController();
  const closed = again ? keepDispatching(core, current, begin, stopping.signal) : current.dispatching.dispatcher.closed;
  stops.push(async () => {
    stopping.abort();
    await current.dispatching.dispatcher.close();
    await closed.catch(() => undefined);
  });
  watch(core, current);
  const state = () => current.dispatching.dispatcher.state();
  return { closed, behindMs: () => behindMs(state()), writesNotices: () => state().writesNotices };
}

/** Returns at once. @param view null without the API's role: notices are written without counts */
export function writeNotices(
  { logger, backbone, accounts }: Core,
  { writesNotices }: RunningDispatcher,
  view: ViewFollower | null,
  stops: Stop[],
): void {
  const writer = new NoticeWriter({
    broker: backbone.broker,
    store: backbone.store,
    accounts,
    logger,
    now: Date.now,
    elapsed: () => performance.now(),
    health: async (accountId) => (await view?.ask(accountId, (asked) => asked.health())) ?? null,
    topic: backbone.topics.notices,
    isChosen: writesNotices,
  });
  writer.start();
  stops.push(() => writer.close());
}

/** Begins a dispatcher anew that Kafka refuses, so that the API in this process continues. */
function keepDispatching(
  core: Core,
  current: Current,
  begin: () => Promise<Dispatching>,
  signal: AbortSignal,
): Promise<void> {
  const { logger, brokerContact } = core;
  let isFirst = true;
  const work = async () => {
    if (!isFirst) {
      current.dispatching = await begin();
      brokerContact.why = null;
      logger.info('the dispatcher continues');
    }
    isFirst = false;
    const { dispatcher } = current.dispatching;
    try {
      if (!signal.aborted) await dispatcher.closed;
    } finally {
      await dispatcher.close().catch(() => undefined);
    }
  };
  const failed = (error: unknown) => {
    brokerContact.why = error instanceof Error ? error.message : String(error);
    logger.error({ err: error }, 'the dispatcher lost the broker; restarting it');
  };
  return retry(work, { signal, failed, longestPauseMs: LONGEST_PAUSE_MS });
}

async function beginDispatching(core: Core, requestChains: RequestChains): Promise<Dispatching> {
  const { config, logger, attempt, backbone, accounts, breakers, catalogue, handleCommand } = core;
  const { DEACTIVATE_AFTER: deactivateAfterMs } = config;
  const clock = createProcessClock();
  const scheduler = new DeliveryScheduler({
    slots: config.DELIVERY_CONCURRENCY,
    perEndpoint: config.ENDPOINT_CONCURRENCY,
    remembers: core.memory.endpoints,
    waitingBytes: core.memory.waitingBytes,
    clock,
    breakers,
    busyMs,
    idleTo: core.connections.idleTo,
  });
  // One dispatcher runs at a time.
  core.connections.watcher = scheduler;
  const slotsAreShort = () => scheduler.slotsAreShort;
  const backpressure = new Backpressure({ queues: scheduler.endpoints, slotsAreShort, busyMs, now: clock.now });
  const starting = startDispatcher({
    broker: backbone.broker,
    group: config.KAFKA_GROUP,
    topics: backbone.topics,
    schedule: config.RETRY_SCHEDULE,
    timeoutMs: config.DELIVERY_TIMEOUT,
    urgentTypes: config.URGENT_EVENT_TYPES,
    accounts,
    catalogue,
    wasRemoved: createWasRemoved(backbone.store),
    store: core.history,
    passHead: core.passHead,
    requestChains,
    configuration: createDeliverySecrets(accounts, backbone.sealing, Date.now, core.memory.endpoints),
    sealing: backbone.sealing,
    scheduler,
    backpressure,
    health: new EndpointHealth({
      accounts,
      handleCommand,
      logger,
      now: Date.now,
      deactivateAfterMs,
      remembers: core.memory.endpoints,
    }),
    attempt,
    handleCommand,
    logger,
    metrics: core.metrics.delivery,
    tracing: core.tracing,
    now: Date.now,
    monotonicNow: clock.now,
    random: Math.random,
  });
  // Its clock and timers end with it.
  starting.catch(() => scheduler.close());
  return { dispatcher: await starting, scheduler, backpressure };
}

function watch({ backbone, metrics, readiness, brokerContact }: Core, current: Current): void {
  const { tierOf } = backbone.topics;
  const nameOf = (topic: string) => tierOf(topic)?.text ?? topic;
  const state = () => current.dispatching.dispatcher.state();
  const sample = () => {
    const { scheduler, backpressure } = current.dispatching;
    const { unconfirmedMs, unreadTiers: unread } = state();
    const unreadTiers = [...unread].map(([topic, records]) => [nameOf(topic), records] as const);
    return { ...scheduler.state, consumptionPaused: backpressure.isPaused, unconfirmedMs, unreadTiers };
  };
  metrics.watched.dispatcher = { tierOf: nameOf, sample };
  metrics.watched.consumers.set('payments', () => state().payments);
  metrics.watched.consumers.set('retries', () => state().retries);
  readiness.part('dispatcher', () => {
    const { payments, unconfirmedMs, requestsUnknown } = state();
    if (requestsUnknown !== null) return `deliveries wait: ${requestsUnknown}`;
    return unconfirmedText({ inHand: payments.inHand, unconfirmedMs }, Date.now());
  });
  readiness.part('broker', () => {
    const { payments, retries } = state();
    const joined = payments.connected && retries.connected;
    return brokerContact.why ?? (joined ? null : 'the consumers are not in their groups: retrying');
  });
  // Other partitions continue: the fault is reported, and the process stays ready.
  readiness.part('partitions', () => blockedPartitions(state()), { needed: false });
  readiness.part('consumer groups', () => foreignText(state()), { needed: false });
}

function foreignText({ foreign }: ReturnType<Dispatcher['state']>): string | null {
  return foreign.length === 0 ? null : `${[...new Set(foreign)].join('; ')}: ${OWN_GROUP}`;
}

function behindMs({ payments }: ReturnType<Dispatcher['state']>): number {
  const now = Date.now();
  return Math.max(0, ...payments.partitions.map(({ head }) => now - (head?.publishedAt ?? now)));
}

function blockedPartitions({ payments, retries }: ReturnType<Dispatcher['state']>): string | null {
  const all = [...payments.partitions, ...retries.partitions];
  const blocked = all.flatMap(({ topic, partition, unreadable }) =>
    unreadable ? [`partition ${partition} of ${topic} waits at offset ${unreadable.offset}: ${unreadable.reason}`] : [],
  );
  return blocked.length === 0 ? null : blocked.join('; ');
}

/** Retries while the broker is unreachable; other failures end the start. */
async function untilAvailable<T>({ logger, givenUp, brokerContact }: Core, start: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await Promise.race([start(), givenUp]);
    } catch (error) {
      if (!(error instanceof BrokerUnavailable) || error instanceof BrokerRefused) throw error;
      brokerContact.why = error.message;
      logger.warn({ err: error }, 'the broker is unavailable; retrying');
      await Promise.race([sleep(TRY_AGAIN_MS), givenUp]);
    }
  }
}

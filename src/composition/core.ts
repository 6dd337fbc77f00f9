/** The foundation of both roles: store, broker, keys and read model. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { openProjectionStates, removeCorruptStates } from '../adapters/sqlite/projection-states.js';
import { inDataDir } from '../adapters/sqlite/store-file.js';
import type { Attempt } from '../delivery/attempt/attempt.js';
import { CircuitBreakers } from '../delivery/isolation/circuit-breaker.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import type { Readiness } from '../observability/readiness.js';
import type { Tracing } from '../observability/tracing.js';
import { type EventCatalogue, loadCatalogue } from '../payments/event-catalogue.js';
import { type EventStore, OtherHistory, StoreRefused, StoreUnavailable } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { setAsideText } from '../read-model/account-unreadable.js';
import { type Accounts, createAccounts, createCommandAccounts } from '../read-model/accounts.js';
import { ProjectionHost, type ProjectionProgress } from '../read-model/projection-host.js';
import { combined, loadProjection, PROJECTIONS } from '../read-model/projection-source.js';
import { RunningRecoveries } from '../read-model/running-recoveries.js';
import { sealedValues } from '../read-model/sealed-values.js';
import { acceptedIdentity, readStoreId, refuseStore, writeStoreId } from '../read-model/store-identity.js';
import { StoreLookups } from '../read-model/store-lookups.js';
import type { Config } from '../settings/read-config.js';
import { createHistoryBudget } from '../webhooks/account-buckets.js';
import { AccountCommandQueue } from '../webhooks/account-command-queue.js';
import type { CommandDeps } from '../webhooks/command-deps.js';
import { createAppend, createCommandHandler, type HandleCommand } from '../webhooks/handle-command.js';
import type { AccountState } from '../webhooks/state.js';
import { type Backbone, checkKeys, openBackbone } from './backbone.js';
import { type Connections, openAttempt } from './delivery-attempt.js';
import { type DeliveryMemory, deliveryMemory } from './delivery-memory.js';
import { startRetention } from './retention.js';
import { type BrokerContact, refusalsText, watchBackbone } from './watched-backbone.js';

/** The most accounts that /health/ready names. */
const NAMED_ACCOUNTS = 5;
const ASK_AGAIN_MS = 500;

export type Stop = () => Promise<void> | void;

export interface Start {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing | null;
  readonly readiness: Readiness;
  /** Rejected with StartAborted if nobody waits for the start any longer; in the core also whenever `lost` is rejected. */
  readonly givenUp: Promise<never>;
}

/** The foundation of both roles. */
export interface Core extends Start {
  readonly backbone: Backbone;
  readonly catalogue: EventCatalogue;
  readonly brokerContact: BrokerContact;
  readonly accounts: Accounts;
  readonly recoveries: RunningRecoveries;
  /** The identity of the event store. */
  readonly history: string;
  /**
   * Fulfilled once the read model has caught up with the store's state at the time of the call.
   * @throws StoreUnavailable, OtherHistory
   */
  readonly passHead: (signal: AbortSignal) => Promise<void>;
  readonly handleCommand: HandleCommand;
  /** The dependencies of command handling. */
  readonly commands: CommandDeps;
  /** Rejected if the read model can't continue, or the embedded store is damaged. */
  readonly lost: Promise<never>;
  /** Shared by deliveries and test events, as are their connections. */
  readonly attempt: Attempt;
  readonly connections: Connections;
  readonly memory: DeliveryMemory;
  readonly breakers: CircuitBreakers;
}

/**
 * Opens the backbone and brings the read model up to the store's current head.
 * @throws InvalidConfig, OtherHistory, StoreDamaged
 */
export async function startCore(start: Start, stops: Stop[]): Promise<Core> {
  const { config, logger, metrics, tracing, readiness, givenUp } = start;
  const catalogue = loadCatalogue(config.EVENT_SCHEMAS);
  const brokerContact: BrokerContact = { why: null, failures: 0, refusals: new Map() };
  readiness.part('topics', () => refusalsText(brokerContact, performance.now()), { needed: false });
  const backbone = await openBackbone(config, logger);
  watchBackbone(backbone, metrics.store, brokerContact);
  stops.push(() => backbone.close());
  const { store, embedded } = backbone;
  embedded?.mustBeSound();
  const sweeper = startRetention(config, backbone, logger);
  stops.push(() => sweeper?.stop());
  const onDamaged = (file: string) =>
    logger.warn({ file }, 'the read model is damaged or from another release: rebuilding it');
  await removeCorruptStates(config.DATA_DIR, onDamaged);
  const states = openProjectionStates(config.DATA_DIR, onDamaged);
  stops.push(() => states.close());
  const now = () => performance.now();
  const host = new ProjectionHost<AccountState>({
    store,
    states,
    logger,
    projection: combined(PROJECTIONS.map(loadProjection)),
    now,
    time: Date.now,
    onReached: (ms) => metrics.store.folded(ms),
    onCommitted: (committed) => recoveries.committed(committed),
  });
  const recoveries = new RunningRecoveries(host.known);
  const watch = host.head;
  watchReadModel(start, host);
  watch.start();
  stops.push(() => watch.close());
  const lost = Promise.race([host.lost, watch.lost, ...(embedded ? [embedded.damaged] : [])]);
  // The app's user observes `lost`; if the start fails for another reason, nobody does.
  lost
    .catch((error: unknown) => error instanceof OtherHistory && refuseStore(config.DATA_DIR, error))
    .catch((err: unknown) => logger.error({ err }, 'DATA_DIR does not keep that the event store was refused'));
  const asking = new AbortController();
  const identified = identify(config.DATA_DIR, store, states.history, asking.signal);
  stops.push(async () => {
    asking.abort();
    await Promise.allSettled([identified]);
  });
  const history = await Promise.race([identified, lost, givenUp]);
  host.start(history);
  stops.push(() => host.close());
  await Promise.race([Promise.all([host.caughtUp, watch.answered]), lost, givenUp]);
  await checkKeys(sealedValues(host.known, Date.now()), backbone.sealing);
  readiness.part('keys', () => null);
  const commands: CommandDeps = {
    accounts: createCommandAccounts(host.known),
    append: createAppend({ store, tracing }),
    queue: new AccountCommandQueue(),
    budget: createHistoryBudget(config.HISTORY_BUDGET, now),
    newEventId: randomUUID,
    time: Date.now,
  };
  const passHead = (signal: AbortSignal) => host.passHead(signal);
  const memory = deliveryMemory(config.DELIVERY_MEMORY);
  const { bytes, ...enoughFor } = memory;
  logger.info({ bytes, ...enoughFor }, 'memory for deliveries and their endpoints');
  const { attempt, connections, close } = openAttempt(config, memory, { tracing, metrics: metrics.delivery, logger });
  stops.push(close);
  const ended = Promise.race([givenUp, lost]);
  // Every waiter observes it.
  ended.catch(() => undefined);
  return {
    ...start,
    givenUp: ended,
    backbone,
    catalogue,
    brokerContact,
    history,
    commands,
    lost,
    attempt,
    connections,
    memory,
    accounts: createAccounts(host.known, new StoreLookups(now, passHead)),
    recoveries,
    passHead,
    handleCommand: createCommandHandler(commands),
    breakers: new CircuitBreakers({ now, random: Math.random, remembers: memory.endpoints }),
  };
}

/**
 * Identifies the event store that this installation belongs to: asks until the store answers, and keeps the id in DATA_DIR.
 * @param folded the identity of the store that the read model was folded from
 * @throws OtherHistory, StoreRefused, DataDirUnusable; AbortError
 */
async function identify(dataDir: string, store: EventStore, folded: string | null, signal: AbortSignal) {
  const kept = inDataDir(() => readStoreId(dataDir));
  for (;;) {
    try {
      const identity = await acceptedIdentity({ store, newId: randomUUID }, kept ?? folded);
      if (kept === null) inDataDir(() => writeStoreId(dataDir, identity));
      return identity;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error instanceof StoreRefused) throw error;
      await delay(ASK_AGAIN_MS, undefined, { signal });
    }
  }
}

function watchReadModel({ metrics, readiness }: Start, host: ProjectionHost<AccountState>): void {
  const sample = () => ({ ...host.progress, unreadableAccounts: host.known.setAside.size });
  metrics.watched.readModel = { projections: PROJECTIONS, sample };
  const whyNot = (...kinds: readonly ProjectionProgress['kind'][]) => {
    const { kind, why } = host.progress;
    return kinds.includes(kind) ? why : null;
  };
  readiness.part('event store', () => host.head.whyNot ?? whyNot('starting', 'out-of-reach'));
  readiness.part('read model', () => {
    const why = whyNot('starting', 'out-of-reach', 'catching-up');
    return why && `not up to date: ${why}`;
  });
  // Other accounts continue: the fault is reported, and the process stays ready.
  readiness.part('accounts', () => unreadableText(host.known.setAside), { needed: false });
}

/** Null if there is none. */
function unreadableText(setAside: ReadonlyMap<string, SetAside>): string | null {
  const named = [...setAside].slice(0, NAMED_ACCOUNTS).map(([stream, event]) => setAsideText(stream, event));
  const more = setAside.size - named.length;
  return named.length === 0 ? null : [...named, ...(more > 0 ? [`and ${more} more: see doctor`] : [])].join('; ');
}

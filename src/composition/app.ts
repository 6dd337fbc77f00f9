/** The composition root: starts the parts in order, and stops them in reverse. */
import { lockDataDir } from '../adapters/sqlite/data-dir-lock.js';
import { FAILURE_CODES } from '../endpoints/failure.js';
import { startAdminServer } from '../observability/admin-server.js';
import type { Logger } from '../observability/logger.js';
import { createMetrics, type ExposedMetrics } from '../observability/metrics.js';
import { Readiness } from '../observability/readiness.js';
import { version } from '../package-file.js';
import { type Config, ignoredProxy } from '../settings/read-config.js';
import { EVENT_TYPES } from '../webhooks/limits.js';
import { followDeliveries, startListening } from './api.js';
import { type Stop, startCore } from './core.js';
import { startDispatching, writeNotices } from './dispatcher.js';
import { openTracing } from './open-tracing.js';
import { watchFollowing } from './watched-backbone.js';

export const ROLES = ['api', 'dispatcher'] as const;
export type Role = (typeof ROLES)[number];

/** A restart may overlap the end of the process before it. */
const LOCK_WITHIN_MS = 15_000;

export interface App {
  /** Null if the role does not run. */
  readonly apiPort: number | null;
  readonly adminPort: number;
  /** Rejected if the app can't continue: end the process, so that its supervisor restarts it. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** The start was given up before it was complete. */
export class StartAborted extends Error {
  override readonly name = 'StartAborted';
  readonly code = 'START_ABORTED';
}

/**
 * Waits for an unreachable store or broker; meanwhile /health/ready says so.
 * @param abort gives up waiting
 * @throws StartAborted; DataDirInUse if another process has DATA_DIR; InvalidConfig for unreadable files, or if the master
 * key does not match the stored data; StoreRefused and BrokerRefused; the errors of listening
 */
export async function startApp(
  config: Config,
  roles: readonly Role[],
  logger: Logger,
  abort: AbortSignal = new AbortController().signal,
): Promise<App> {
  const stops: Stop[] = [];
  const close = stopper(stops);
  const readiness = notReadyYet(roles);
  const metrics = metricsOf(roles, readiness);
  stops.push(() => metrics.close());
  try {
    const tracing = await openTracing(config, logger);
    stops.push(() => tracing?.close());
    const admin = await startAdminServer(config.HOST, config.ADMIN_PORT, { readiness, metrics });
    stops.push(() => admin.close());
    logger.info({ roles, adminPort: admin.port }, 'starting');
    const proxy = ignoredProxy(config);
    if (proxy) logger.info(`${proxy.says}; ${proxy.todo}`);
    stops.push(await lockDataDir(config.DATA_DIR, LOCK_WITHIN_MS, abort));
    const core = await startCore({ config, logger, metrics, tracing, readiness, givenUp: aborted(abort) }, stops);
    if (!roles.includes('dispatcher')) watchFollowing(core.backbone, core.brokerContact);
    // First: its thread starts beside the dispatcher.
    const reading = roles.includes('api') ? followDeliveries(core, stops) : null;
    const dispatcher = roles.includes('dispatcher')
      ? await startDispatching(core, { again: roles.includes('api') }, stops)
      : null;
    // With a dispatcher, the broker is a part already.
    if (!dispatcher) readiness.part('broker', () => core.brokerContact.why, { needed: false });
    if (dispatcher) writeNotices(core, dispatcher, reading?.view ?? null, stops);
    await reading?.view.opened();
    const api = reading ? await startListening(core, stops, reading, dispatcher?.behindMs ?? (() => 0)) : null;
    stops.push(() => readiness.stopping());
    const ports = { apiPort: api?.port ?? null, adminPort: admin.port };
    logger.info({ roles, ...ports }, 'ready');
    const failed = dispatcher ? Promise.race([core.lost, onlyFailure(dispatcher.closed)]) : core.lost;
    return { ...ports, failed, close };
  } catch (error) {
    await close();
    throw abort.aborted ? new StartAborted('the start was aborted') : error;
  }
}

/** The parts in the order of their start; afterwards each part reports its own state. */
function notReadyYet(roles: readonly Role[]): Readiness {
  const readiness = new Readiness();
  for (const part of ['event store', 'read model', 'keys']) readiness.part(part, () => 'not started yet');
  const waits = () => 'waiting for the parts before it';
  // The API's data is local: it serves without the broker, and must get requests.
  if (roles.includes('dispatcher')) readiness.part('broker', waits, { needed: !roles.includes('api') });
  for (const role of roles) readiness.part(role, waits);
  return readiness;
}

function metricsOf(roles: readonly Role[], readiness: Readiness): ExposedMetrics {
  const labels = { eventTypes: EVENT_TYPES, failureCodes: FAILURE_CODES };
  const metrics = createMetrics({ ...labels, version: version(), roles });
  metrics.watched.parts = () => readiness.parts;
  return metrics;
}

function aborted(signal: AbortSignal): Promise<never> {
  const given = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new StartAborted('the start was aborted'));
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  // After the start this is no failure.
  given.catch(() => undefined);
  return given;
}

function onlyFailure(closed: Promise<void>): Promise<never> {
  return closed.then(() => new Promise<never>(() => undefined));
}

/** Repeated calls return the first stop's promise. A part that fails to stop does not prevent the others from stopping. */
function stopper(stops: Stop[]): () => Promise<void> {
  let stopping: Promise<void> | null = null;
  const stopAll = async () => {
    const failures: unknown[] = [];
    for (let stop = stops.pop(); stop; stop = stops.pop()) {
      await Promise.resolve()
        .then(stop)
        .catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  return () => {
    stopping ??= stopAll();
    return stopping;
  };
}

/** The status and source of a projection on the event store's server. Read-only. */
import { randomUUID } from 'node:crypto';
import { type EventStore, NO_STREAM } from '../ports/event-store.js';
import type { ProjectionServer, ServerProjectionStatus } from '../ports/projection-server.js';
import { compileProjection, type ProjectionName, projectionSource } from './projection-source.js';

export interface ServerParts {
  readonly store: EventStore;
  readonly server: ProjectionServer;
}

/**
 * The first that applies. system-only: the server runs only its system projections. other-source: its source is not this
 * program's, or it was last deployed by a program with another source. folding: far from the end of the history, as in a
 * rebuild.
 */
export type Condition = 'missing' | 'faulted' | 'system-only' | 'other-source' | 'stopped' | 'folding' | 'running';

export interface Examined {
  readonly projection: ProjectionName;
  readonly condition: Condition;
  /** Null if it is missing. */
  readonly status: ServerProjectionStatus | null;
  /** unreadable: this user may not read the running source, so the recorded last deployment counts. */
  readonly source: 'own' | 'another' | 'unreadable' | null;
}

const DEPLOYED = 'ProjectionDeployed';
/** Percent. A busy store is never quite folded. */
const FOLDED = 99;

/** @throws StoreUnavailable, ProjectionsOff */
export async function examine(parts: ServerParts, projection: ProjectionName): Promise<Examined> {
  const status = await parts.server.status(projection);
  if (!status) return { projection, condition: 'missing', status, source: null };
  const running = await parts.server.runningSource(projection);
  if (running === null) {
    const wasDeployed = await isDeployed(parts.store, projection);
    return { projection, condition: conditionOf(status, wasDeployed), status, source: 'unreadable' };
  }
  const isOwn = running === projectionSource(projection);
  return { projection, condition: conditionOf(status, isOwn), status, source: isOwn ? 'own' : 'another' };
}

function conditionOf(found: ServerProjectionStatus, isOwn: boolean): Condition {
  const { status } = found;
  if (isFaulted(status)) return 'faulted';
  if (/stopped.*\(enabled\)/i.test(status)) return 'system-only';
  if (!isOwn) return 'other-source';
  if (isStopped(status)) return 'stopped';
  return isFolding(found) ? 'folding' : 'running';
}

/** The server pauses reading (Running/Paused) while it has too many events to fold. */
export function isFolding({ status, progress }: ServerProjectionStatus): boolean {
  return /paused/i.test(status) || (progress !== null && progress < FOLDED);
}

export function isFaulted(status: string): boolean {
  return /fault/i.test(status);
}

/** False while starting or stopping. */
export function isStopped(status: string): boolean {
  return /stopped|aborted|completed/i.test(status);
}

/** Whether the last deployed source is this program's. @throws StoreUnavailable */
export async function isDeployed(store: EventStore, name: ProjectionName): Promise<boolean> {
  return (await lastDeployment(store, name)).version === versionOf(name);
}

/** Unless it is recorded already. @throws WrongExpectedRevision if another process does so too, StoreUnavailable */
export async function writeDownDeployment(store: EventStore, name: ProjectionName): Promise<void> {
  const { version: last, revision } = await lastDeployment(store, name);
  const version = versionOf(name);
  if (last === version) return;
  const data = { projection: name, version, deployedAt: new Date().toISOString() };
  await store.append(deployments(name), [{ id: randomUUID(), type: DEPLOYED, data, metadata: {} }], revision);
}

async function lastDeployment(store: EventStore, name: ProjectionName) {
  let version: unknown = null;
  let revision = NO_STREAM;
  for await (const event of store.read(deployments(name))) {
    version = event.data.version;
    revision = event.revision;
  }
  return { version, revision };
}

function deployments(name: ProjectionName): string {
  return `projection-${name}`;
}

function versionOf(name: ProjectionName): string {
  return compileProjection(name, projectionSource(name)).version;
}

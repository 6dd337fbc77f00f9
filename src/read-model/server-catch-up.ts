/** Waits until a projection on the server has folded all events of the store. The server's own status is no proof. */
import { setTimeout as delay } from 'node:timers/promises';
import { ProjectionMissing, type ServerProjectionStatus } from '../ports/projection-server.js';
import { loadProjection, type Projection, type ProjectionName } from './projection-source.js';
import { isFaulted, isFolding, isStopped, type ServerParts } from './server-condition.js';
import { batchesOf, differenceAt, type Place } from './server-fold.js';

export interface Watching {
  readonly lookEveryMs: number;
  /** The number of polls in a row without progress after which to give up. */
  readonly patience: number;
  /** Called for each step. */
  readonly onStep: (name: ProjectionName, status: ServerProjectionStatus) => void;
  /** Called for each account whose state cannot be waited for, maybe several times. */
  readonly onUnreadable: (stream: string, why: string) => void;
}

/** No progress: the projection may have stopped, or faulted. */
export class StandsStill extends Error {
  override readonly name = 'StandsStill';
  readonly code = 'STANDS_STILL';
  constructor(
    readonly projection: ProjectionName,
    readonly status: ServerProjectionStatus,
  ) {
    super(`${projection} does not advance: its status is ${status.status} ${status.reason}`.trimEnd());
  }
}

/**
 * A repeated state, as after an update that was reverted, can't be told from the earlier one: so several streams are
 * checked.
 */
const LAST_STREAMS = 20;
/** Looks: the server's status is a second old. One that was started and is still stopped, or faulted, does not recover by itself. */
const ENDED_PATIENCE = 25;

/** @throws StandsStill, ProjectionMissing, StoreUnavailable */
export async function untilCaughtUp(parts: ServerParts, name: ProjectionName, watching: Watching): Promise<void> {
  const projection = loadProjection(name);
  const last = await lastPlaces(parts, projection);
  await until(parts, name, watching, async (status) => {
    if (hasEnded(status) || isFolding(status)) return false;
    const isFolded = await Promise.all(last.map((place) => isFoldedAt(parts, projection, place, watching)));
    return isFolded.every(Boolean);
  });
}

async function isFoldedAt(
  parts: ServerParts,
  projection: Projection,
  place: Place,
  { onUnreadable }: Watching,
): Promise<boolean> {
  const difference = await differenceAt(parts, projection, place);
  if (difference === null) return true;
  if (!('unreadable' in difference)) return false;
  onUnreadable(place.stream, difference.unreadable);
  return true;
}

/** After stop: the server first stores a checkpoint. @throws StandsStill, ProjectionMissing, StoreUnavailable */
export function untilStopped(parts: ServerParts, name: ProjectionName, watching: Watching): Promise<void> {
  return until(parts, name, watching, async (status) => hasEnded(status));
}

function hasEnded({ status }: ServerProjectionStatus): boolean {
  return isFaulted(status) || isStopped(status);
}

async function until(
  { server }: ServerParts,
  name: ProjectionName,
  { lookEveryMs, patience, onStep }: Watching,
  isThere: (status: ServerProjectionStatus) => Promise<boolean>,
): Promise<void> {
  let before = '';
  for (let still = 0; ; still += 1) {
    const status = await server.status(name);
    if (!status) throw new ProjectionMissing(name);
    if (await isThere(status)) return;
    const now = JSON.stringify(status);
    if (now !== before) {
      onStep(name, status);
      still = 0;
    }
    const mostStill = hasEnded(status) ? Math.min(patience, ENDED_PATIENCE) : patience;
    if (still >= mostStill) throw new StandsStill(name, status);
    before = now;
    await delay(lookEveryMs);
  }
}

/** The last handled events, of some streams. */
async function lastPlaces(parts: ServerParts, projection: Projection): Promise<Place[]> {
  const last = new Map<string, Place>();
  for await (const { events } of batchesOf(parts, projection)) {
    for (const { stream, revision, type } of events) {
      if (!projection.handles(type)) continue;
      last.delete(stream);
      last.set(stream, { stream, revision });
      const [oldest] = last.keys();
      if (last.size > LAST_STREAMS && oldest !== undefined) last.delete(oldest);
    }
  }
  return [...last.values()];
}

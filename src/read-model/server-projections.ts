/** The projections on the event store's server: how they are, and how they become this program's. */

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { packageFile } from '../package-file.js';
import type { RecordedEvent } from '../ports/event-store.js';
import { ProjectionMissing, type ProjectionServer, type ServerProjectionStatus } from '../ports/projection-server.js';
import { loadProjection, type ProjectionName, projectionSource } from './projection-source.js';

/** The first that applies. system-only: the server runs only its system projections. folding: far from the history's end. */
type Condition = 'missing' | 'faulted' | 'system-only' | 'other-source' | 'stopped' | 'folding' | 'running';

export interface Examined {
  readonly projection: ProjectionName;
  readonly condition: Condition;
  /** Null if it is missing. */
  readonly status: ServerProjectionStatus | null;
  /** unreadable: this user may not read the running source. Null if there is none. */
  readonly source: 'own' | 'another' | 'unreadable' | null;
}

export interface Deployed {
  readonly projection: ProjectionName;
  /** rebuilt: it has folded from the beginning again, with this program's source. */
  readonly outcome: 'created' | 'rebuilt' | 'unchanged';
  /** The reason in words; null if there is none. */
  readonly cause: string | null;
}

export interface Watching {
  readonly lookEveryMs: number;
  /** The number of polls in a row without progress after which to give up. */
  readonly patience: number;
  /** Called for each step. */
  readonly onStep: (name: ProjectionName, status: ServerProjectionStatus) => void;
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

/** Percent. A busy store is never quite folded. */
const FOLDED = 99;
/** Polls: a projection that was started and is still stopped, or faulted, does not recover by itself. */
const ENDED_PATIENCE = 25;

/** @throws StoreUnavailable, ProjectionsOff */
export async function examine(server: ProjectionServer, projection: ProjectionName): Promise<Examined> {
  const status = await server.status(projection);
  if (!status) return { projection, condition: 'missing', status, source: null };
  const running = await server.runningSource(projection);
  const own = running === projectionSource(projection) ? 'own' : 'another';
  const source = running === null ? 'unreadable' : own;
  return { projection, condition: conditionOf(status, source), status, source };
}

function conditionOf(found: ServerProjectionStatus, source: Examined['source']): Condition {
  const { status } = found;
  if (isFaulted(status)) return 'faulted';
  if (/stopped.*\(enabled\)/i.test(status)) return 'system-only';
  if (source === 'another') return 'other-source';
  if (isStopped(status)) return 'stopped';
  return isFolding(found) ? 'folding' : 'running';
}

/**
 * Afterwards the projection runs this program's source. One that is not known to do so folds again from the beginning, which
 * also finishes an interrupted deployment: that left the projection stopped or faulted.
 * @throws FixtureFailed, StandsStill, StoreUnavailable, ProjectionsOff
 */
export async function deploy(server: ProjectionServer, name: ProjectionName, watching: Watching): Promise<Deployed> {
  rehearse(name);
  const examined = await examine(server, name);
  if (examined.condition === 'missing') {
    await server.put(name, projectionSource(name));
    await untilFolded(server, name, watching);
    return { projection: name, outcome: 'created', cause: null };
  }
  const cause = causeToRebuild(examined);
  if (cause === null) return { projection: name, outcome: 'unchanged', cause };
  await foldAgain(server, examined, watching);
  return { projection: name, outcome: 'rebuilt', cause };
}

function causeToRebuild({ condition, source }: Examined): string | null {
  switch (condition) {
    case 'faulted':
      return 'the projection was faulted';
    case 'other-source':
      return 'the server ran another source';
    case 'system-only':
    case 'stopped':
      return 'the projection was stopped';
    case 'missing':
    case 'folding':
    case 'running':
      return source === 'unreadable' ? 'this user may not read which source ran' : null;
    default:
      return condition satisfies never;
  }
}

/** @throws ProjectionMissing, FixtureFailed, StandsStill, StoreUnavailable, ProjectionsOff */
export async function rebuild(server: ProjectionServer, name: ProjectionName, watching: Watching): Promise<Deployed> {
  rehearse(name);
  const examined = await examine(server, name);
  if (examined.condition === 'missing') throw new ProjectionMissing(name);
  await foldAgain(server, examined, watching);
  return { projection: name, outcome: 'rebuilt', cause: null };
}

/**
 * Stopped first: the server stores a checkpoint when it stops, and a deployment that is interrupted after `put` is noticed by
 * the next one. A faulted projection doesn't run. Reset does not start a stopped one.
 */
async function foldAgain(
  server: ProjectionServer,
  { projection: name, condition }: Examined,
  watching: Watching,
): Promise<void> {
  if (condition !== 'faulted') {
    await server.stop(name);
    await until(server, name, watching, hasEnded);
  }
  await server.put(name, projectionSource(name));
  await server.reset(name);
  await server.start(name);
  await untilFolded(server, name, watching);
}

/** As far as the server says so, which is a second late: `verify` compares. */
function untilFolded(server: ProjectionServer, name: ProjectionName, watching: Watching): Promise<void> {
  return until(server, name, watching, (status) => !hasEnded(status) && !isFolding(status));
}

async function until(
  server: ProjectionServer,
  name: ProjectionName,
  { lookEveryMs, patience, onStep }: Watching,
  isThere: (status: ServerProjectionStatus) => boolean,
): Promise<void> {
  let before = '';
  for (let still = 0; ; still += 1) {
    const status = await server.status(name);
    if (!status) throw new ProjectionMissing(name);
    if (isThere(status)) return;
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

/** The server pauses reading (Running/Paused) while it has too many events to fold. */
function isFolding({ status, progress }: ServerProjectionStatus): boolean {
  return /paused/i.test(status) || (progress !== null && progress < FOLDED);
}

function hasEnded({ status }: ServerProjectionStatus): boolean {
  return isFaulted(status) || isStopped(status);
}

function isFaulted(status: string): boolean {
  return /fault/i.test(status);
}

/** False while starting or stopping. */
export function isStopped(status: string): boolean {
  return /stopped|aborted|completed/i.test(status);
}

class FixtureFailed extends Error {
  override readonly name = 'FixtureFailed';
  readonly code = 'FIXTURE_FAILED';
}

/**
 * A bad source stops more than itself on a server, so it is run on projections/fixtures/<name>.json before.
 * @throws FixtureFailed; SyntaxError
 */
function rehearse(name: ProjectionName): void {
  const fixture = packageFile(`projections/fixtures/${name}.json`);
  const { events, state } = JSON.parse(readFileSync(fixture, 'utf8')) as { events: RecordedEvent[]; state: unknown };
  const { init, fold } = loadProjection(name);
  const folded = events.reduce((before, event) => fold(before, event), init());
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(folded)), state)) return;
  throw new FixtureFailed(`projections/${name}.js does not fold its fixture to the expected state`);
}

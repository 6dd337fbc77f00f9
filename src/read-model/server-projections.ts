/**
 * The projections on the event store's server: their condition, and how they come to run this program's source.
 *
 * To fold again is one sequence: stop, put, reset, start. An interrupted one leaves the projection stopped, or with another
 * source, so the next deploy does it again: nothing has to be written down.
 */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { packageFile } from '../package-file.js';
import type { RecordedEvent } from '../ports/event-store.js';
import { ProjectionMissing, type ProjectionServer, type ServerProjectionStatus } from '../ports/projection-server.js';
import { sleep } from '../time/retry.js';
import { compileProjection, type ProjectionName, projectionSource } from './projection-source.js';

/** The first that applies. system-only: the server runs only its system projections. folding: far from the end, as in a rebuild. */
type Condition = 'missing' | 'faulted' | 'system-only' | 'other-source' | 'stopped' | 'folding' | 'running';

export interface Examined {
  readonly projection: ProjectionName;
  readonly condition: Condition;
  /** Null if it is missing. */
  readonly status: ServerProjectionStatus | null;
  /** unreadable: this user may not read the source that runs. */
  readonly source: 'own' | 'another' | 'unreadable' | null;
}

export interface Deployed {
  readonly projection: ProjectionName;
  /** rebuilt: it folds from the beginning again, with this program's source. */
  readonly outcome: 'created' | 'rebuilt' | 'unchanged';
}

/** Called for each change of the status while a command waits. */
type OnStep = (name: ProjectionName, status: ServerProjectionStatus) => void;

/** The projection has stopped or faulted, or does not advance. */
export class StandsStill extends Error {
  override readonly name = 'StandsStill';
  readonly code = 'STANDS_STILL';
  constructor(projection: ProjectionName, { status, reason }: ServerProjectionStatus) {
    super(`${projection} does not advance: its status is ${status} ${reason}`.trimEnd());
  }
}

/** Percent. A busy store is never quite folded. */
const FOLDED = 99;

/** @throws StoreUnavailable, ProjectionsOff */
export async function examine(server: ProjectionServer, projection: ProjectionName): Promise<Examined> {
  const status = await server.status(projection);
  if (!status) return { projection, condition: 'missing', status, source: null };
  const running = await server.runningSource(projection);
  const isOwn = running === projectionSource(projection);
  const source = running === null ? 'unreadable' : isOwn ? 'own' : 'another';
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

/** The server pauses reading (Running/Paused) while it has too many events to fold. */
function isFolding({ status, progress }: ServerProjectionStatus): boolean {
  return /paused/i.test(status) || (progress !== null && progress < FOLDED);
}

function isFaulted(status: string): boolean {
  return /fault/i.test(status);
}

/** False while starting or stopping. */
function isStopped(status: string): boolean {
  return /stopped|aborted|completed/i.test(status);
}

export interface Waiting {
  readonly onStep: OnStep;
  readonly lookEveryMs: number;
  /** The number of looks in a row without progress after which to give up. */
  readonly patience: number;
}

/**
 * Afterwards the projection runs this program's source, and by the server's status has folded the history. A source that
 * this user may not read counts as another one.
 * @throws FixtureFailed, StandsStill, StoreUnavailable, ProjectionsOff
 */
export async function deploy(server: ProjectionServer, name: ProjectionName, waiting: Waiting): Promise<Deployed> {
  rehearse(name);
  const { condition, source } = await examine(server, name);
  if (condition === 'missing') {
    await server.put(name, projectionSource(name));
    await untilFolded(server, name, waiting);
    return { projection: name, outcome: 'created' };
  }
  const isDeployed = source === 'own' && (condition === 'running' || condition === 'folding');
  if (!isDeployed) return foldAgain(server, name, waiting);
  await untilFolded(server, name, waiting);
  return { projection: name, outcome: 'unchanged' };
}

/** @throws ProjectionMissing, FixtureFailed, StandsStill, StoreUnavailable, ProjectionsOff */
export async function rebuild(server: ProjectionServer, name: ProjectionName, waiting: Waiting): Promise<Deployed> {
  rehearse(name);
  if (!(await server.status(name))) throw new ProjectionMissing(name);
  return foldAgain(server, name, waiting);
}

/** Reset does not start a stopped projection. A faulted one cannot be stopped. */
async function foldAgain(server: ProjectionServer, name: ProjectionName, waiting: Waiting): Promise<Deployed> {
  const status = await server.status(name);
  if (status && !hasEnded(status)) {
    await server.stop(name);
    await until(server, name, waiting, hasEnded);
  }
  await server.put(name, projectionSource(name));
  await server.reset(name);
  await server.start(name);
  await untilFolded(server, name, waiting);
  return { projection: name, outcome: 'rebuilt' };
}

function untilFolded(server: ProjectionServer, name: ProjectionName, waiting: Waiting): Promise<void> {
  return until(server, name, waiting, (status) => !hasEnded(status) && !isFolding(status));
}

function hasEnded({ status }: ServerProjectionStatus): boolean {
  return isFaulted(status) || isStopped(status);
}

async function until(
  server: ProjectionServer,
  name: ProjectionName,
  { onStep, lookEveryMs, patience }: Waiting,
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
    if (still >= (hasEnded(status) ? patience / 6 : patience)) throw new StandsStill(name, status);
    before = now;
    await sleep(lookEveryMs);
  }
}

class FixtureFailed extends Error {
  override readonly name = 'FixtureFailed';
  readonly code = 'FIXTURE_FAILED';
}

/** A bad source stops more than itself on a server, so it is first run on projections/fixtures/<name>.json. @throws FixtureFailed */
function rehearse(name: ProjectionName): void {
  const fixture = packageFile(`projections/fixtures/${name}.json`);
  const { events, state } = JSON.parse(readFileSync(fixture, 'utf8')) as { events: RecordedEvent[]; state: unknown };
  const { init, fold } = compileProjection(name, projectionSource(name));
  const folded = events.reduce((before, event) => fold(before, event), init());
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(folded)), state)) return;
  throw new FixtureFailed(`projections/${name}.js does not fold its fixture to the expected state`);
}

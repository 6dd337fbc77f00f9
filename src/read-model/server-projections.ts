/** The projections on the event store's server: how they become this program's, and whether they fold as it does. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { EventStore } from '../ports/event-store.js';
import { ProjectionMissing, type ProjectionServer, type ServerProjectionStatus } from '../ports/projection-server.js';
import type { SetAside } from '../ports/projection-states.js';
import { hiddenIn } from './account-unreadable.js';
import type { Folded } from './fold.js';
import { loadProjection, type Projection, type ProjectionName, projectionSource } from './projection-source.js';
import { foldStored } from './stored-events.js';

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

/** rebuilt: it has folded from the beginning again, with this program's source. */
interface Deployed {
  readonly projection: ProjectionName;
  readonly outcome: 'created' | 'rebuilt' | 'unchanged';
  readonly cause: string | null;
}

export interface Watching {
  readonly lookEveryMs: number;
  /** The number of polls in a row without progress after which to give up. */
  readonly patience: number;
  readonly onStep: (name: ProjectionName, status: ServerProjectionStatus) => void;
}

/** No progress: the projection may have stopped, or faulted. */
export class StandsStill extends Error {
  override readonly name = 'StandsStill';
  constructor(projection: ProjectionName, { status, reason }: ServerProjectionStatus) {
    super(`${projection} does not advance: its status is ${status} ${reason}`.trimEnd());
  }
}

/** Percent. A busy store is never quite folded. */
const FOLDED = 99;
const CAUSES: Readonly<Partial<Record<Condition, string>>> = {
  faulted: 'the projection was faulted',
  'other-source': 'the server ran another source',
  'system-only': 'the projection was stopped',
  stopped: 'the projection was stopped',
};

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
  if (/stopped/i.test(status) && /\(enabled\)/i.test(status)) return 'system-only';
  if (source === 'another') return 'other-source';
  if (isStopped(status)) return 'stopped';
  return isFolding(found) ? 'folding' : 'running';
}

/**
 * Afterwards the projection runs this program's source. One that is not known to do so folds again from the beginning, which
 * also finishes an interrupted deployment: that left the projection stopped or faulted.
 * @throws StandsStill, StoreUnavailable, ProjectionsOff
 */
export async function deploy(server: ProjectionServer, name: ProjectionName, watching: Watching): Promise<Deployed> {
  const examined = await examine(server, name);
  if (examined.condition === 'missing') {
    await server.put(name, projectionSource(name));
    await untilFolded(server, name, watching);
    return { projection: name, outcome: 'created', cause: null };
  }
  const unread = examined.source === 'unreadable' ? 'this user may not read which source ran' : null;
  const cause = CAUSES[examined.condition] ?? unread;
  if (cause === null) return { projection: name, outcome: 'unchanged', cause };
  return foldAgain(server, examined, watching, cause);
}

/** @throws ProjectionMissing, StandsStill, StoreUnavailable, ProjectionsOff */
export async function rebuild(server: ProjectionServer, name: ProjectionName, watching: Watching): Promise<Deployed> {
  const examined = await examine(server, name);
  if (examined.condition === 'missing') throw new ProjectionMissing(name);
  return foldAgain(server, examined, watching);
}

/**
 * Stopped first: the server stores a checkpoint when it stops, and a deployment that is interrupted after `put` is noticed by
 * the next one. A faulted projection doesn't run. Reset does not start a stopped one.
 */
async function foldAgain(
  server: ProjectionServer,
  { projection: name, condition }: Examined,
  watching: Watching,
  cause: string | null = null,
): Promise<Deployed> {
  if (condition !== 'faulted') {
    await server.stop(name);
    await until(server, name, watching, hasEnded);
  }
  await server.put(name, projectionSource(name));
  await server.reset(name);
  await server.start(name);
  await untilFolded(server, name, watching);
  return { projection: name, outcome: 'rebuilt', cause };
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
    if (still >= patience) throw new StandsStill(name, status);
    before = now;
    await delay(lookEveryMs);
  }
}

/** The server pauses reading (Running/Paused) while it has too many events to fold. */
function isFolding({ status, progress }: ServerProjectionStatus): boolean {
  return /paused/i.test(status) || (progress !== null && progress < FOLDED);
}

const hasEnded = ({ status }: ServerProjectionStatus) => isFaulted(status) || isStopped(status);
const isFaulted = (status: string) => /fault/i.test(status);
/** False while starting or stopping. */
const isStopped = (status: string) => /stopped|aborted|completed/i.test(status);

/** The server answers about 2,400 such calls a second. */
const AT_ONCE = 32;

/** changed: the account got events meanwhile, so the two states are of different revisions. */
export type Discrepancy = { readonly projection: string; readonly stream: string } & (
  | { readonly local: unknown; readonly server: unknown }
  | { readonly unreadable: string }
  | { readonly changed: true }
);

/**
 * Every account whose state on the server is not the one folded here. A server that is behind differs too.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function* verify(
  store: EventStore,
  server: ProjectionServer,
  names: readonly ProjectionName[],
): AsyncIterable<Discrepancy> {
  for (const name of names) {
    if (!(await server.status(name))) throw new ProjectionMissing(name);
    const projection = loadProjection(name);
    const { states: folded, unreadable, hidden } = await foldStored(store, projection);
    const states = [...new Map<string, Folded<unknown> | SetAside>([...folded, ...unreadable, ...hidden])];
    for (let first = 0; first < states.length; first += AT_ONCE) {
      const some = states.slice(first, first + AT_ONCE);
      const compared = await Promise.all(some.map((state) => discrepancyOf(store, server, projection, state)));
      for (const found of compared) if (found) yield found;
    }
  }
}

async function discrepancyOf(
  store: EventStore,
  server: ProjectionServer,
  { name, init }: Projection,
  [stream, found]: readonly [string, Folded<unknown> | SetAside],
): Promise<Discrepancy | null> {
  const where = { projection: name, stream };
  if ('why' in found) return { ...where, unreadable: found.why };
  const there = await server.state(name, stream);
  const local = JSON.parse(JSON.stringify(found.state)) as unknown;
  if (isDeepStrictEqual(local, there)) return null;
  // The server has no state, which reads as {}, until the first event that the projection handles.
  if (isDeepStrictEqual(there, {}) && isDeepStrictEqual(local, init())) return null;
  const hidden = await hiddenIn(store, stream);
  if (hidden) return { ...where, unreadable: hidden.why };
  if (!(await store.endsWith(stream, found.revision, found.eventId))) return { ...where, changed: true };
  return { ...where, local, server: there };
}

/**
 * The projections on the event store's server: put there, watched, and compared with what this program folds from the
 * same events. A source is compiled and run over its fixture before it goes there: one bad source on the server stops
 * the listing of all.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type EventStore, NO_STREAM, type RecordedEvent, StoreUnavailable } from '../ports/event-store.js';
import { ProjectionMissing, type ProjectionServer } from '../ports/projection-server.js';
import { compileProjection, type Projection, type ProjectionName, projectionSource } from './projection-source.js';

/** The server tells nobody which source it runs: what was deployed is written down in a stream of its own. */
const DEPLOYED = 'ProjectionDeployed';
const LOOKS = 5;
const LOOK_AGAIN_MS = 300;
const STILL_THERE_EVERY_MS = 2_000;

export class FixtureFailed extends Error {
  override readonly name = 'FixtureFailed';
  readonly code = 'FIXTURE_FAILED';
}

export interface Deployed {
  readonly projection: ProjectionName;
  /** rebuilt: its source changed, so it folds from the beginning again. */
  readonly outcome: 'created' | 'rebuilt' | 'unchanged';
}

export interface Difference {
  readonly projection: ProjectionName;
  readonly stream: string;
  readonly local: unknown;
  readonly server: unknown;
}

/** @throws FixtureFailed, StoreUnavailable */
export async function deploy(store: EventStore, server: ProjectionServer, name: ProjectionName): Promise<Deployed> {
  const source = projectionSource(name);
  const { version } = rehearsed(name, source);
  const { deployedVersion, revision } = await lastDeployment(store, name);
  if (deployedVersion === version && (await server.status(name))) return { projection: name, outcome: 'unchanged' };
  const outcome = await server.put(name, source);
  if (outcome === 'updated') await server.reset(name);
  const data = { projection: name, version, deployedAt: new Date().toISOString() };
  await store.append(deployments(name), [{ id: randomUUID(), type: DEPLOYED, data, metadata: {} }], revision);
  return { projection: name, outcome: outcome === 'created' ? 'created' : 'rebuilt' };
}

/** Whether what was deployed last is what this program has. @throws StoreUnavailable */
export async function isDeployed(store: EventStore, name: ProjectionName): Promise<boolean> {
  const { deployedVersion } = await lastDeployment(store, name);
  return deployedVersion === compileProjection(name, projectionSource(name)).version;
}

/**
 * Every account whose state on the server is another than the one folded here.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function* verify(
  store: EventStore,
  server: ProjectionServer,
  name: ProjectionName,
): AsyncIterable<Difference> {
  const projection = compileProjection(name, projectionSource(name));
  if (!(await server.status(name))) throw new ProjectionMissing(name);
  for await (const stream of streamsOf(store, server, projection)) {
    const difference = await differenceOf(store, server, projection, stream);
    if (difference) yield { projection: name, stream, ...difference };
  }
}

/** A server that is a moment behind is no difference, so it is looked at again. */
async function differenceOf(store: EventStore, server: ProjectionServer, projection: Projection, stream: string) {
  for (let look = 1; ; look += 1) {
    let state = projection.init();
    for await (const event of store.read(stream)) state = projection.fold(state, event);
    const local: unknown = JSON.parse(JSON.stringify(state));
    const there = await server.state(projection.name, stream);
    if (isDeepStrictEqual(local, there)) return null;
    if (look === LOOKS) return { local, server: there };
    await delay(LOOK_AGAIN_MS);
  }
}

/** The names of the streams it folds, each once, as the store stands now. */
async function* streamsOf(
  store: EventStore,
  server: ProjectionServer,
  { name, streamPrefix }: Projection,
): AsyncIterable<string> {
  const seen = new Set<string>();
  const until = new AbortController();
  void abortWhenGone(server, name, until);
  try {
    for await (const batch of store.subscribe({ after: null, streamPrefix, signal: until.signal })) {
      for (const { stream } of batch.events) {
        if (seen.size < seen.add(stream).size) yield stream;
      }
      if (batch.caughtUp) return;
    }
    throw until.signal.reason ?? new StoreUnavailable('the event store was closed meanwhile');
  } finally {
    until.abort();
  }
}

/** A subscription waits for a store that is down, for ever: so the server is asked, and its failure is the reason. */
async function abortWhenGone(server: ProjectionServer, name: string, until: AbortController): Promise<void> {
  const { signal } = until;
  while (!signal.aborted) {
    try {
      await delay(STILL_THERE_EVERY_MS, undefined, { signal });
      await server.status(name);
    } catch (error) {
      until.abort(error);
    }
  }
}

async function lastDeployment(store: EventStore, name: ProjectionName) {
  let deployedVersion: unknown = null;
  let revision = NO_STREAM;
  for await (const event of store.read(deployments(name))) {
    deployedVersion = event.data.version;
    revision = event.revision;
  }
  return { deployedVersion, revision };
}

function deployments(name: ProjectionName): string {
  return `projection-${name}`;
}

/** Compiled, and run over its fixture: projections/fixtures/<name>.json, events and the state they give. */
function rehearsed(name: ProjectionName, source: string): Projection {
  const file = new URL(`../../projections/fixtures/${name}.json`, import.meta.url);
  const { events, state } = JSON.parse(readFileSync(file, 'utf8')) as { events: RecordedEvent[]; state: unknown };
  try {
    const projection = compileProjection(name, source);
    let folded = projection.init();
    for (const event of events) folded = projection.fold(folded, event);
    if (isDeepStrictEqual(JSON.parse(JSON.stringify(folded)), state)) return projection;
  } catch (cause) {
    throw new FixtureFailed(`projections/${name}.js does not run`, { cause });
  }
  throw new FixtureFailed(`projections/${name}.js does not fold its fixture as it should`);
}

/** Compares the server's states with those that this program folds from the same events. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { RecordedEvent } from '../ports/event-store.js';
import { ProjectionMissing } from '../ports/projection-server.js';
import { loadProjection, type Projection, type ProjectionName } from './projection-source.js';
import type { ServerParts } from './server-condition.js';
import { asStored, differenceAt, eventsOf, type Place, type TwoStates } from './server-fold.js';

/** A server that is briefly behind is no difference, so all differing states are checked again, together. */
const LOOKS = 5;
const LOOK_AGAIN_MS = 300;
/** The server answers about 2,400 such calls a second. */
const AT_ONCE = 32;

export interface Difference extends TwoStates {
  readonly projection: string;
  readonly stream: string;
}

interface Folded extends Place {
  readonly state: unknown;
}

/**
 * Every account whose state on the server differs from the one folded here, for each projection in turn. One read of the
 * events serves all projections.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function* verify(parts: ServerParts, names: readonly ProjectionName[]): AsyncIterable<Difference> {
  for (const name of names) {
    if (!(await parts.server.status(name))) throw new ProjectionMissing(name);
  }
  for (const { projection, states } of await foldAll(parts, names.map(loadProjection))) {
    for (const { place, ...two } of await differences(parts, projection, states)) {
      yield { projection: projection.name, stream: place.stream, ...two };
    }
  }
}

async function differences(parts: ServerParts, projection: Projection, states: Folding['states']): Promise<Found[]> {
  const { server } = parts;
  let differing = await mapAtOnce([...states.values()], async ({ state, ...place }) =>
    isDeepStrictEqual(asStored(state), await server.state(projection.name, place.stream)) ? null : place,
  );
  let last: Found[] = [];
  for (let look = 2; look <= LOOKS && differing.length > 0; look += 1) {
    await delay(LOOK_AGAIN_MS);
    last = await mapAtOnce(differing, async (place) => found(place, await differenceAt(parts, projection, place)));
    differing = last.map(({ place }) => place);
  }
  return last;
}

interface Found extends TwoStates {
  readonly place: Place;
}

function found(place: Place, difference: TwoStates | null): Found | null {
  return difference && { place, ...difference };
}

interface Folding {
  readonly projection: Projection;
  /** By stream, in the order of the streams' first events. */
  readonly states: Map<string, Folded>;
}

async function foldAll(parts: ServerParts, projections: readonly Projection[]): Promise<Folding[]> {
  const foldings = projections.map((projection) => ({ projection, states: new Map<string, Folded>() }));
  const prefixes = new Map(projections.map(({ name, streamPrefix }) => [streamPrefix, name]));
  for (const [streamPrefix, name] of prefixes) {
    const folding = foldings.filter(({ projection }) => projection.streamPrefix === streamPrefix);
    for await (const event of eventsOf(parts, { name, streamPrefix })) for (const one of folding) fold(one, event);
  }
  return foldings;
}

function fold({ projection, states }: Folding, event: RecordedEvent): void {
  const { stream, revision } = event;
  const state = projection.fold(states.get(stream)?.state ?? projection.init(), event);
  states.set(stream, { stream, revision, state });
}

/** The non-null results of the work, in order; runs up to AT_ONCE in parallel. */
async function mapAtOnce<T, R>(all: readonly T[], work: (one: T) => Promise<R | null>): Promise<R[]> {
  const results: (R | null)[] = Array(all.length).fill(null);
  const left = all.entries();
  const worker = async () => {
    for (const [index, one] of left) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results.filter((result) => result !== null);
}

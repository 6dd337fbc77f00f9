/** The states at the server, compared with what this program folds from the same events. */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ProjectionMissing } from '../ports/projection-server.js';
import { loadProjection, type Projection, type ProjectionName } from './projection-source.js';
import { asStored, differenceAt, eventsOf, type Place, type TwoStates } from './server-fold.js';
import type { ServerParts } from './server-standing.js';

/** A server that is a moment behind is no difference, so all that differ are looked at again, together. */
const LOOKS = 5;
const LOOK_AGAIN_MS = 300;
/** The server answers about 2,400 such calls a second. */
const AT_ONCE = 32;

export interface Difference extends TwoStates {
  readonly projection: ProjectionName;
  readonly stream: string;
}

interface Folded extends Place {
  readonly state: unknown;
}

/** Every account whose state on the server is another than the one folded here. @throws ProjectionMissing, StoreUnavailable */
export async function* verify(parts: ServerParts, name: ProjectionName): AsyncIterable<Difference> {
  const projection = loadProjection(name);
  if (!(await parts.server.status(name))) throw new ProjectionMissing(name);
  const folded = await foldAll(parts, projection);
  let differing = await mapAtOnce([...folded.values()], async ({ state, ...place }) => {
    const server = await parts.server.state(name, place.stream);
    return isDeepStrictEqual(asStored(state), server) ? null : place;
  });
  let differences: Found[] = [];
  for (let look = 2; look <= LOOKS && differing.length > 0; look += 1) {
    await delay(LOOK_AGAIN_MS);
    differences = await mapAtOnce(differing, async (place) =>
      found(place, await differenceAt(parts, projection, place)),
    );
    differing = differences.map(({ place }) => place);
  }
  for (const { place, ...states } of differences) yield { projection: name, stream: place.stream, ...states };
}

interface Found extends TwoStates {
  readonly place: Place;
}

function found(place: Place, difference: TwoStates | null): Found | null {
  return difference && { place, ...difference };
}

/** By stream, in the order in which the streams began. */
async function foldAll(parts: ServerParts, projection: Projection): Promise<Map<string, Folded>> {
  const folded = new Map<string, Folded>();
  for await (const event of eventsOf(parts, projection)) {
    const { stream, revision } = event;
    const state = projection.fold(folded.get(stream)?.state ?? projection.init(), event);
    folded.set(stream, { stream, revision, state });
  }
  return folded;
}

/** What the work makes of each that is not null, in order; so many are under way at once. */
async function mapAtOnce<T, R>(all: readonly T[], work: (one: T) => Promise<R | null>): Promise<R[]> {
  const results: (R | null)[] = Array(all.length).fill(null);
  const left = all.entries();
  const worker = async () => {
    for (const [index, one] of left) results[index] = await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results.filter((result) => result !== null);
}

/** Compares the server's states with those that this program folds from the same events. */
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedEvent } from '../ports/event-store.js';
import { ProjectionMissing } from '../ports/projection-server.js';
import { hiddenIn } from './account-unreadable.js';
import { loadProjection, type Projection, type ProjectionName } from './projection-source.js';
import type { ServerParts } from './server-condition.js';
import { batchesOf, differenceAt, type Place, StreamFold, type TwoStates, type Unreadable } from './server-fold.js';

/** A server that is briefly behind is no difference, so all differing states are checked again, together. */
const LOOKS = 5;
const LOOK_AGAIN_MS = 300;
/** The server answers about 2,400 such calls a second. */
const AT_ONCE = 32;

/** The states differ, or the account's events cannot all be read. */
export type Discrepancy = { readonly projection: string; readonly stream: string } & (TwoStates | Unreadable);

interface Folded extends Place {
  readonly fold: StreamFold;
}

type Found = Pick<Place, 'stream'> & (TwoStates | Unreadable);

/**
 * Every account whose state on the server differs from the one folded here, for each projection in turn. One read of the
 * events serves all projections.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function* verify(parts: ServerParts, names: readonly ProjectionName[]): AsyncIterable<Discrepancy> {
  for (const name of names) {
    if (!(await parts.server.status(name))) throw new ProjectionMissing(name);
  }
  for (const folding of await foldAll(parts, names.map(loadProjection))) {
    for (const found of await compared(parts, folding)) yield { projection: folding.projection.name, ...found };
  }
}

async function compared(parts: ServerParts, { projection, streams, suspects }: Folding): Promise<Found[]> {
  const { server, store } = parts;
  const unreadable = await mapAtOnce([...suspects], async (stream) => {
    const setAside = await hiddenIn(store, stream);
    return setAside && { stream, unreadable: setAside.why };
  });
  for (const { stream } of unreadable) streams.delete(stream);
  let differing: Place[] = await mapAtOnce([...streams.values()], async ({ fold, ...place }) =>
    fold.equals(await server.state(projection.name, place.stream)) ? null : place,
  );
  let last: (Place & Found)[] = [];
  for (let look = 2; look <= LOOKS && differing.length > 0; look += 1) {
    await delay(LOOK_AGAIN_MS);
    last = await mapAtOnce(differing, async (place) => {
      const difference = await differenceAt(parts, projection, place);
      return difference && { ...place, ...difference };
    });
    differing = last;
  }
  return [...unreadable, ...last.map(({ revision, ...found }) => found)];
}

interface Folding {
  readonly projection: Projection;
  /** By name, in the order of the streams' first events. */
  readonly streams: Map<string, Folded>;
  /** Streams of which events may be hidden. */
  readonly suspects: Set<string>;
}

async function foldAll(parts: ServerParts, projections: readonly Projection[]): Promise<Folding[]> {
  const suspects = new Set<string>();
  const foldings = projections.map((projection) => ({ projection, streams: new Map<string, Folded>(), suspects }));
  const prefixes = new Map(projections.map(({ name, streamPrefix }) => [streamPrefix, name]));
  for (const [streamPrefix, name] of prefixes) {
    const folding = foldings.filter(({ projection }) => projection.streamPrefix === streamPrefix);
    for await (const batch of batchesOf(parts, { name, streamPrefix })) {
      for (const stream of batch.reshaped ?? []) suspects.add(stream);
      for (const event of batch.events) for (const one of folding) add(one, event);
    }
  }
  return foldings;
}

function add({ projection, streams, suspects }: Folding, event: RecordedEvent): void {
  const { stream, revision } = event;
  if (revision > 0 && !streams.has(stream)) suspects.add(stream);
  const fold = streams.get(stream)?.fold ?? new StreamFold(projection);
  fold.add(event);
  streams.set(stream, { stream, revision, fold });
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

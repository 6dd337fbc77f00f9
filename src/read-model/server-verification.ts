/** Compares the states on the event store's server with those that this program folds from the same events. */
import { isDeepStrictEqual } from 'node:util';
import { type EventStore, type RecordedEvent, StoreUnavailable } from '../ports/event-store.js';
import type { ProjectionServer } from '../ports/projection-server.js';
import { loadProjection, type Projection, type ProjectionName } from './projection-source.js';

/** The server answers about 2,400 such calls a second. */
const AT_ONCE = 32;
const STILL_THERE_EVERY_MS = 2_000;

/** The states differ, or the account's first events are gone and nothing can be compared. */
export type Discrepancy = { readonly projection: string; readonly stream: string } & (
  | { readonly local: unknown; readonly server: unknown }
  | { readonly unreadable: string }
);

interface Folded {
  readonly projection: Projection;
  readonly stream: string;
  /** The revision of the last event that was folded. */
  revision: number;
  state: unknown;
  hasHandled: boolean;
  /** An event is missing before one that was folded. */
  isWhole: boolean;
}

/**
 * Every account whose state on the server differs from the one folded here at the same revision. What is written while
 * this runs may show as a difference, where the server is further.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function verify(
  parts: { readonly store: EventStore; readonly server: ProjectionServer },
  names: readonly ProjectionName[],
): Promise<Discrepancy[]> {
  const left = (await foldAll(parts, names.map(loadProjection))).values();
  const found: Discrepancy[] = [];
  const worker = async () => {
    for (const folded of left) {
      const discrepancy = await discrepancyOf(parts.server, folded);
      if (discrepancy) found.push(discrepancy);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

async function discrepancyOf(server: ProjectionServer, folded: Folded): Promise<Discrepancy | null> {
  const { projection, stream, isWhole, hasHandled } = folded;
  const about = { projection: projection.name, stream };
  if (!isWhole) return { ...about, unreadable: 'events of its stream are missing' };
  const there = await server.state(projection.name, stream);
  // As the server stores it.
  const local: unknown = JSON.parse(JSON.stringify(folded.state));
  // The server has no state, which reads as {}, until the first event that the projection handles.
  const isSame = isDeepStrictEqual(local, there) || (!hasHandled && isDeepStrictEqual(there, {}));
  return isSame ? null : { ...about, local, server: there };
}

/** By projection and stream, in the order of their first events. */
async function foldAll(
  { store, server }: { readonly store: EventStore; readonly server: ProjectionServer },
  projections: readonly Projection[],
): Promise<Folded[]> {
  const [first] = projections;
  if (!first) return [];
  const folded = projections.map(() => new Map<string, Folded>());
  // A subscription waits without end for an unreachable store: the server's failure ends it.
  const gone = new AbortController();
  const asking = setInterval(
    () => void server.status(first.name).catch((error) => gone.abort(error)),
    STILL_THERE_EVERY_MS,
  );
  try {
    const { signal } = gone;
    for await (const batch of store.subscribe({ after: null, streamPrefix: first.streamPrefix, signal })) {
      for (const event of batch.events) {
        projections.forEach((projection, n) => {
          add(projection, folded[n] as Map<string, Folded>, event);
        });
      }
      if (batch.caughtUp) return folded.flatMap((streams) => [...streams.values()]);
    }
    throw gone.signal.reason ?? new StoreUnavailable('the event store was closed meanwhile');
  } finally {
    clearInterval(asking);
    gone.abort();
  }
}

function add(projection: Projection, streams: Map<string, Folded>, event: RecordedEvent): void {
  const { stream, revision } = event;
  const begun = { projection, stream, revision: -1, state: projection.init(), hasHandled: false, isWhole: true };
  const folded = streams.get(stream) ?? begun;
  folded.isWhole &&= revision === folded.revision + 1;
  folded.revision = revision;
  folded.hasHandled ||= projection.handles(event.type);
  folded.state = projection.fold(folded.state, event);
  streams.set(stream, folded);
}

/** Compares the server's states with those that this program folds from the same events: each account once. */
import { isDeepStrictEqual } from 'node:util';
import type { EventStore } from '../ports/event-store.js';
import { ProjectionMissing, type ProjectionServer } from '../ports/projection-server.js';
import type { SetAside } from '../ports/projection-states.js';
import { hiddenIn } from './account-unreadable.js';
import type { Folded } from './fold.js';
import { loadProjection, type Projection, type ProjectionName } from './projection-source.js';
import { foldStored } from './stored-events.js';

interface ServerParts {
  readonly store: EventStore;
  readonly server: ProjectionServer;
}

/** The server answers about 2,400 such calls a second. */
const AT_ONCE = 32;

/** changed: the account got events meanwhile, so the two states are of different revisions. */
export type Discrepancy = { readonly projection: string; readonly stream: string } & (
  | { readonly local: unknown; readonly server: unknown }
  | { readonly unreadable: string }
  | { readonly changed: true }
);

/**
 * Every account whose state on the server is not the one folded here, for each projection in turn. A server that is behind
 * differs too.
 * @throws ProjectionMissing, StoreUnavailable
 */
export async function* verify(parts: ServerParts, names: readonly ProjectionName[]): AsyncIterable<Discrepancy> {
  for (const name of names) {
    if (!(await parts.server.status(name))) throw new ProjectionMissing(name);
  }
  for (const name of names) {
    const projection = loadProjection(name);
    const { states: folded, unreadable, hidden } = await foldStored(parts.store, projection);
    const states = [...new Map<string, Folded<unknown> | SetAside>([...folded, ...unreadable, ...hidden])];
    for (let first = 0; first < states.length; first += AT_ONCE) {
      const compared = states.slice(first, first + AT_ONCE).map((state) => discrepancyOf(parts, projection, state));
      for (const found of await Promise.all(compared)) if (found) yield found;
    }
  }
}

async function discrepancyOf(
  { store, server }: ServerParts,
  { name, init }: Projection,
  [stream, found]: readonly [string, Folded<unknown> | SetAside],
): Promise<Discrepancy | null> {
  const about = { projection: name, stream };
  if ('why' in found) return { ...about, unreadable: found.why };
  const there = await server.state(name, stream);
  const local = JSON.parse(JSON.stringify(found.state)) as unknown;
  if (isDeepStrictEqual(local, there)) return null;
  // The server has no state, which reads as {}, until the first event that the projection handles.
  if (isDeepStrictEqual(there, {}) && isDeepStrictEqual(local, init())) return null;
  const hidden = await hiddenIn(store, stream);
  if (hidden) return { ...about, unreadable: hidden.why };
  if (!(await store.endsWith(stream, found.revision, found.eventId))) return { ...about, changed: true };
  return { ...about, local, server: there };
}

/** What an append does, by the expected revision and the events' ids: as the server's index writer decides it. */
import { NONE, type ProposedEvent, type StoredData, type StoredEvent, sizeOf } from './stored-data.js';

/** A revision, or NONE for no_stream. */
export type Expected = number | 'any' | 'stream_exists';

export type Outcome =
  | { readonly kind: 'stored'; readonly last: StoredEvent | undefined }
  | { readonly kind: 'wrong-version'; readonly current: number }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'too-large' };

type Refused = Exclude<Outcome, { kind: 'stored' }>;
type Decision = Outcome | 'append';

export const MOST_BYTES = 1_024 * 1_024;

export interface Append {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
}

export function append(data: StoredData, { stream, expected, events }: Append): Outcome {
  if (events.reduce((sum, event) => sum + sizeOf(event), 0) > MOST_BYTES) return { kind: 'too-large' };
  const ids = events.map(({ id }) => id);
  const decision = decide(data, stream, expected, ids);
  if (decision !== 'append') return decision;
  const about = stream.startsWith('$$') ? stream.slice(2) : stream;
  const wasDeleted = data.isSoftDeleted(about);
  const next = data.lastRevision(about) + 1;
  const last = data.append(stream, events);
  if (wasDeleted) data.undelete(about, next);
  return { kind: 'stored', last };
}

/** What forbids to delete a stream: null is nothing. */
export function refusesDelete(data: StoredData, stream: string, expected: Expected): Refused | null {
  const decision = decide(data, stream, expected, ['']);
  if (decision === 'append' && data.lastRevision(stream) === NONE && !data.hasMetadata(stream)) {
    return { kind: 'wrong-version', current: NONE };
  }
  return decision === 'append' || decision.kind === 'stored' ? null : decision;
}

function decide(data: StoredData, stream: string, expected: Expected, ids: readonly string[]): Decision {
  if (data.isTombstoned(stream)) return { kind: 'deleted' };
  const current = data.lastRevision(stream);
  if (expected === 'stream_exists') {
    if (data.isSoftDeleted(stream)) return { kind: 'deleted' };
    if (current === NONE && !data.hasMetadata(stream)) return { kind: 'wrong-version', current };
  }
  if (typeof expected !== 'number') return repeatedAnywhere(data, stream, ids);
  if (expected === current) return 'append';
  return expected > current ? { kind: 'wrong-version', current } : repeatedAfter(data, stream, expected, ids);
}

function repeatedAnywhere(data: StoredData, stream: string, ids: readonly string[]): Decision {
  const found = ids.map((id) => data.byId(id)).map((event) => (event?.stream === stream ? event : undefined));
  if (!found[0]) return 'append';
  return found.every(Boolean)
    ? { kind: 'stored', last: found.at(-1) }
    : { kind: 'wrong-version', current: data.lastRevision(stream) };
}

/** The stream has gone on: it is the same append again only where the same ids stand at the same revisions. */
function repeatedAfter(data: StoredData, stream: string, expected: number, ids: readonly string[]): Decision {
  const there = data.stream(stream).slice(expected + 1, expected + 1 + ids.length);
  const same = ids.map((id, place) => there[place]?.id === id);
  if (same.length > 0 && same.every(Boolean)) return { kind: 'stored', last: there.at(-1) };
  if (!same[0] && expected === NONE && data.isSoftDeleted(stream)) return 'append';
  return { kind: 'wrong-version', current: data.lastRevision(stream) };
}

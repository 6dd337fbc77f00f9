/** What an append does, by the expected revision and the events' ids: as the server's index writer decides it. */
import { NONE, type ProposedEvent, type StoredData, type StoredEvent } from './stored-data.js';

/** A revision, or NONE for no_stream. */
export type Expected = number | 'any';

export type Outcome =
  | { readonly kind: 'stored'; readonly last: StoredEvent | undefined }
  | { readonly kind: 'wrong-version'; readonly current: number }
  | { readonly kind: 'deleted' };

type Decision = Outcome | 'append';

export interface Append {
  readonly stream: string;
  readonly expected: Expected;
  readonly events: readonly ProposedEvent[];
}

export function append(data: StoredData, { stream, expected, events }: Append): Outcome {
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

function decide(data: StoredData, stream: string, expected: Expected, ids: readonly string[]): Decision {
  if (data.isTombstoned(stream)) return { kind: 'deleted' };
  const current = data.lastRevision(stream);
  if (expected === 'any' || expected === current) return 'append';
  return expected > current ? { kind: 'wrong-version', current } : repeatedAfter(data, stream, expected, ids);
}

/** The stream has gone on: it is the same append again only where the same ids stand at the same revisions. */
function repeatedAfter(data: StoredData, stream: string, expected: number, ids: readonly string[]): Decision {
  const there = data.stream(stream).slice(expected + 1, expected + 1 + ids.length);
  const same = ids.map((id, place) => there[place]?.id === id);
  if (same.length > 0 && same.every(Boolean)) return { kind: 'stored', last: there.at(-1) };
  if (!same[0] && expected === NONE && data.isSoftDeleted(stream)) return 'append';
  return { kind: 'wrong-version', current: data.lastRevision(stream) };
}

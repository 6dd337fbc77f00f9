/**
 * What the test server keeps: the log of all events, the streams in it, and the projections. It outlives a server that
 * was killed, as the files of a real one do: give it to the next startEventStore.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface StoredEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: number;
  /** Commit and prepare position in one: they are the same for events that were written outside of transactions. */
  readonly position: bigint;
  /** ms */
  readonly created: number;
}

export interface StoredProjection {
  source: string;
  enabled: boolean;
  /** Why it is faulted, or null. */
  fault: string | null;
  /** How many events of the log it has seen. */
  seen: number;
  epoch: number;
  readonly states: Map<string, string>;
}

/** Roles: names of users and of groups. */
export type Roles = string | readonly string[];

/** A stream's access control list, as it is stored. */
export interface StoredAcl {
  readonly $r?: Roles;
  readonly $w?: Roles;
  readonly $mr?: Roles;
  readonly $mw?: Roles;
}

interface StreamMetadata {
  readonly $maxCount?: number;
  readonly $maxAge?: number;
  readonly $tb?: number;
  readonly $acl?: StoredAcl;
}

export const NONE = -1;
/** The truncateBefore of a stream that was deleted: as text, because it is more than a number can hold. */
const DELETED_JSON = '{"$tb":9223372036854775807}';
const DELETED = 2 ** 63;
/** Of the event that tombstones a stream: int64's largest, as far as a number can hold it. */
export const LAST_REVISION = 2 ** 63;
/** A record's bytes besides names and data. */
const RECORD_BYTES = 96;

export class StoredData {
  readonly log: StoredEvent[] = [];
  readonly projections = standardProjections();
  /** Emits 'append' after every append. */
  readonly appends = new EventEmitter().setMaxListeners(0);
  readonly #streams = new Map<string, StoredEvent[]>();
  readonly #byId = new Map<string, StoredEvent>();
  readonly #tombstones = new Set<string>();
  readonly #scavenged = new Set<StoredEvent>();
  #end = 0n;

  constructor(from?: StoredData) {
    // No real log is empty.
    if (!from) this.append('$$$stats-0.0.0.0:2113', [json('$metadata', '{"$maxAge":2592000}')]);
    else this.#takeOver(from);
  }

  /** One after the other in the log, and at once for those who read it; links to them follow. */
  append(stream: string, events: readonly ProposedEvent[]): StoredEvent | undefined {
    const stored = events.map((event) => this.#store(stream, event));
    for (const event of stored) {
      for (const linking of linkingStreams(event)) {
        this.#store(linking, linkTo(event, randomUUID()));
      }
    }
    this.appends.emit('append');
    return this.stream(stream).at(-1);
  }

  /** What a backup taken now would hold: later appends to either of the two are unknown to the other. */
  copy(): StoredData {
    return new StoredData(this);
  }

  /** As if these events had been stored that much earlier. */
  age(stream: string, ms: number): void {
    for (const event of this.stream(stream)) (event as { created: number }).created -= ms;
  }

  /** Where the next record will stand. */
  get end(): bigint {
    return this.#end;
  }

  /** Removes what metadata hides; the last event of a stream stays where only its age hides it. Positions stay valid. */
  scavenge(): void {
    for (const [name, events] of this.#streams) {
      const first = this.isTombstoned(name) ? events.length - 1 : this.#firstKept(name, events);
      for (const event of events.slice(0, first)) this.#scavenged.add(event);
    }
  }

  isScavenged(event: StoredEvent): boolean {
    return this.#scavenged.has(event);
  }

  stream(name: string): readonly StoredEvent[] {
    return this.#streams.get(name) ?? [];
  }

  /** Names of the streams with this prefix. */
  streams(prefix: string): string[] {
    return [...this.#streams.keys()].filter((name) => name.startsWith(prefix));
  }

  lastRevision(stream: string): number {
    return this.stream(stream).length - 1;
  }

  byId(id: string): StoredEvent | undefined {
    return this.#byId.get(id);
  }

  /** The first event that is not hidden by metadata; null for a stream that is not there, was deleted or has expired. */
  firstReadable(stream: string): number | null {
    const events = this.stream(stream);
    if (events.length === 0 || this.isSoftDeleted(stream)) return null;
    const { $maxAge = 0 } = this.#metadata(stream);
    // The server ignores a $maxAge that is not positive.
    const byAge = $maxAge > 0 ? firstSince(events, Date.now() - $maxAge * 1_000) : 0;
    if (byAge > 0 && byAge === events.length) return null;
    return Math.max(this.#firstCounted(stream, events), byAge);
  }

  #firstCounted(stream: string, events: readonly StoredEvent[]): number {
    const { $maxCount, $tb = 0 } = this.#metadata(stream);
    const byCount = $maxCount === undefined ? 0 : events.length - $maxCount;
    const gone = events.findIndex((event) => !this.#scavenged.has(event));
    return Math.max($tb, byCount, gone === -1 ? events.length : gone, 0);
  }

  #firstKept(stream: string, events: readonly StoredEvent[]): number {
    if (stream.startsWith('$$')) return 0;
    return Math.min(this.firstReadable(stream) ?? events.length, events.length - (this.isSoftDeleted(stream) ? 0 : 1));
  }

  isSoftDeleted(stream: string): boolean {
    return (this.#metadata(stream).$tb ?? 0) >= DELETED;
  }

  softDelete(stream: string): StoredEvent | undefined {
    return this.append(`$$${stream}`, [json('$metadata', DELETED_JSON)]);
  }

  /**
   * What an append does to a deleted stream, and a change of its metadata: what stood before stays hidden. Whoever wants it
   * back writes the metadata once more.
   */
  undelete(stream: string, fromRevision: number): void {
    this.append(`$$${stream}`, [json('$metadata', JSON.stringify({ ...this.#metadata(stream), $tb: fromRevision }))]);
  }

  isTombstoned(stream: string): boolean {
    return this.#tombstones.has(stream);
  }

  tombstone(stream: string): StoredEvent | undefined {
    this.#tombstones.add(stream);
    return this.append(stream, [json('$streamDeleted', '')]);
  }

  acl(stream: string): StoredAcl {
    return this.#metadata(stream).$acl ?? {};
  }

  /** Where in the log this position is; null where no event begins there. */
  indexOf(position: bigint): number | null {
    if (position >= this.#end) return this.log.length;
    let [from, to] = [0, this.log.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.log[middle]?.position ?? 0n) < position) from = middle + 1;
      else to = middle;
    }
    return this.log[from]?.position === position ? from : null;
  }

  #store(stream: string, event: ProposedEvent): StoredEvent {
    const events = this.#streams.get(stream) ?? [];
    if (events.length === 0) this.#streams.set(stream, events);
    const { id, type, contentType, data, metadata } = event;
    const revision = type === '$streamDeleted' ? LAST_REVISION : events.length;
    const place = { stream, revision, position: this.#end, created: Date.now() };
    const stored: StoredEvent = { id, type, contentType, data, metadata, ...place };
    events.push(stored);
    this.log.push(stored);
    this.#byId.set(id, stored);
    this.#end += BigInt(RECORD_BYTES + stream.length + sizeOf(event));
    return stored;
  }

  #takeOver(from: StoredData): void {
    for (const event of from.log) this.log.push(event);
    for (const [name, events] of from.#streams) this.#streams.set(name, [...events]);
    for (const [id, event] of from.#byId) this.#byId.set(id, event);
    for (const stream of from.#tombstones) this.#tombstones.add(stream);
    for (const event of from.#scavenged) this.#scavenged.add(event);
    for (const [name, each] of from.projections) {
      this.projections.set(name, { ...each, states: new Map(each.states) });
    }
    this.#end = from.#end;
  }

  #metadata(stream: string): StreamMetadata {
    const last = this.stream(`$$${stream}`).at(-1);
    return last ? JSON.parse(Buffer.from(last.data).toString()) : {};
  }
}

function firstSince(events: readonly StoredEvent[], oldest: number): number {
  const first = events.findIndex(({ created }) => created >= oldest);
  return first === -1 ? events.length : first;
}

/** As the server counts it for the largest append. */
function sizeOf({ type, data, metadata }: ProposedEvent): number {
  return 2 * type.length + data.length + metadata.length;
}

export function json(type: string, data: string, metadata = ''): ProposedEvent {
  const contentType = 'application/json';
  return { id: randomUUID(), type, contentType, data: Buffer.from(data), metadata: Buffer.from(metadata) };
}

/**
 * The projections that a server brings along (--start-standard-projections), running. What they write: links (`$>`) that
 * follow each event in $all: two of each event of a stream with a category, one more of the first event of a stream. A real
 * server writes them some milliseconds later, another for a $correlationId, and `$stream_by_category` one for each stream.
 * Records of the system's streams, links among them, are not linked.
 */
export const BY_CATEGORY = '$by_category';

const STANDARD = [BY_CATEGORY, '$by_event_type', '$by_correlation_id', '$stream_by_category', '$streams'];

function standardProjections(): Map<string, StoredProjection> {
  return new Map(STANDARD.map((name) => [name, newProjection('')]));
}

export function newProjection(source: string): StoredProjection {
  return { source, enabled: true, fault: null, seen: 0, epoch: 0, states: new Map() };
}

export function isStandard(name: string): boolean {
  return name.startsWith('$');
}

const LINK_TYPE = '$>';
const NOTHING = new Uint8Array();

/** @returns the streams that link the event */
function linkingStreams(event: StoredEvent): string[] {
  if (event.stream.startsWith('$') || event.type.startsWith('$')) return [];
  const linking: string[] = [];
  const dash = event.stream.indexOf('-');
  if (dash > 0) linking.push(`$ce-${event.stream.slice(0, dash)}`);
  linking.push(`$et-${event.type}`);
  if (event.revision === 0) linking.push('$streams');
  return linking;
}

function linkTo({ revision, stream }: StoredEvent, id: string): ProposedEvent {
  const data = Buffer.from(`${revision}@${stream}`);
  return { id, type: LINK_TYPE, contentType: 'application/octet-stream', data, metadata: NOTHING };
}

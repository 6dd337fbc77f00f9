/**
 * What the test server keeps: the log of all events, the streams in it, and the projections. It outlives a server that
 * was killed, as the files of a real one do: give it to the next startEventStore.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { standardProjections } from './standard-projections.js';

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

interface StreamMetadata {
  readonly $maxCount?: number;
  readonly $maxAge?: number;
  readonly $tb?: number;
}

export const NONE = -1;
/** The truncateBefore of a stream that was deleted: as text, because it is more than a number can hold. */
const DELETED_JSON = '{"$tb":9223372036854775807}';
const DELETED = 2 ** 63;
/** A record's bytes besides names and data. */
const RECORD_BYTES = 96;

export class StoredData {
  readonly log: StoredEvent[] = [];
  readonly projections = standardProjections();
  readonly deletedProjections = new Set<string>();
  /** Emits 'append' after every append. */
  readonly appends = new EventEmitter().setMaxListeners(0);
  readonly #streams = new Map<string, StoredEvent[]>();
  readonly #byId = new Map<string, StoredEvent>();
  readonly #tombstones = new Set<string>();
  #end = 0n;

  constructor() {
    // No real log is empty.
    this.append('$$$stats-0.0.0.0:2113', [json('$metadata', '{"$maxAge":2592000}')]);
  }

  /** One after the other in the log, and at once for those who read it. */
  append(stream: string, events: readonly ProposedEvent[]): StoredEvent | undefined {
    for (const event of events) this.#store(stream, event);
    this.appends.emit('append');
    return this.stream(stream).at(-1);
  }

  stream(name: string): readonly StoredEvent[] {
    return this.#streams.get(name) ?? [];
  }

  lastRevision(stream: string): number {
    return this.stream(stream).length - 1;
  }

  byId(id: string): StoredEvent | undefined {
    return this.#byId.get(id);
  }

  /** Of those that metadata does not hide, which come first; null for a stream that is not there, or was deleted. */
  firstReadable(stream: string): number | null {
    const events = this.stream(stream);
    if (events.length === 0 || this.isSoftDeleted(stream)) return null;
    const { $maxCount, $maxAge, $tb = 0 } = this.#metadata(stream);
    const byCount = $maxCount === undefined ? 0 : events.length - $maxCount;
    return Math.max($tb, byCount, $maxAge === undefined ? 0 : firstSince(events, Date.now() - $maxAge * 1_000));
  }

  hasMetadata(stream: string): boolean {
    return this.stream(`$$${stream}`).length > 0;
  }

  isSoftDeleted(stream: string): boolean {
    return (this.#metadata(stream).$tb ?? 0) >= DELETED;
  }

  softDelete(stream: string): StoredEvent | undefined {
    return this.append(`$$${stream}`, [json('$metadata', DELETED_JSON)]);
  }

  /** What an append does to a deleted stream: what stood before it stays hidden. */
  undelete(stream: string, fromRevision: number): void {
    this.append(`$$${stream}`, [json('$metadata', JSON.stringify({ $tb: fromRevision }))]);
  }

  isTombstoned(stream: string): boolean {
    return this.#tombstones.has(stream);
  }

  tombstone(stream: string): StoredEvent | undefined {
    this.#tombstones.add(stream);
    return this.append(stream, [json('$streamDeleted', '')]);
  }

  /** Where in the log this position is; null where no event begins there. */
  indexOf(position: bigint): number | null {
    if (position >= this.#end) return this.log.length;
    const index = this.log.findLastIndex((event) => event.position <= position);
    return this.log[index]?.position === position ? index : null;
  }

  #store(stream: string, event: ProposedEvent): void {
    const events = this.#streams.get(stream) ?? [];
    this.#streams.set(stream, events);
    const stored = { ...event, stream, revision: events.length, position: this.#end, created: Date.now() };
    events.push(stored);
    this.log.push(stored);
    this.#byId.set(event.id, stored);
    this.#end += BigInt(RECORD_BYTES + stream.length + sizeOf(event));
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
export function sizeOf({ type, data, metadata }: ProposedEvent): number {
  return 2 * type.length + data.length + metadata.length;
}

export function json(type: string, data: string, metadata = ''): ProposedEvent {
  const contentType = 'application/json';
  return { id: randomUUID(), type, contentType, data: Buffer.from(data), metadata: Buffer.from(metadata) };
}

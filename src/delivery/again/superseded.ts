/**
 * A resend, a recovery or a cancellation replaces the retry record that waits in a tier. Nothing can remove that record, so
 * a mark in a topic of its own supersedes it: every dispatcher reads all marks before it reads retry records, and drops the
 * records that a mark covers.
 */
import type { Logger } from '../../observability/logger.js';
import {
  type Broker,
  isTime,
  type NewRecord,
  type Position,
  type ReceivedRecord,
  TopicRecreated,
} from '../../ports/broker.js';
import { topicRecords } from '../../ports/topic-records.js';
import { retry, type Sleep, sleep } from '../../time/retry.js';
import type { Delivery } from '../delivery.js';
import { jsonIn } from '../record-place.js';
import type { Topics } from '../topics.js';

/** A publication's delivery, whose waiting records up to this turn must not be sent. */
export type SupersededMark = Pick<Delivery, 'id' | 'payment' | 'turn'>;

/** With the delivery's key, so that its marks are in one partition, in order. */
export function toMark({ id, payment, turn }: SupersededMark): NewRecord {
  return { key: Buffer.from(id), value: Buffer.from(JSON.stringify({ id, payment, turn })), headers: [] };
}

export interface SupersededParts {
  readonly logger: Logger;
  readonly pause?: Sleep;
  readonly broker: Pick<Broker, 'follow' | 'extent'>;
  readonly topics: Pick<Topics, 'superseded'>;
  /** The longest time that a record waits in a tier until it is due, ms. */
  readonly longestWaitMs: number;
  readonly now: () => number;
}

/** Older marks than the longest wait are kept up to this number: dispatchers may have been down. About 4 MB. */
const OLD_MARKS = 20_000;

export class Superseded {
  readonly #parts: SupersededParts;
  /** By delivery, in the order of their arrival. */
  readonly #marks = new Map<string, { readonly turn: number; readonly at: number }>();

  constructor(parts: SupersededParts) {
    this.#parts = parts;
  }

  covers({ id, payment, turn }: SupersededMark): boolean {
    const mark = this.#marks.get(keyOf(id, payment));
    return mark !== undefined && turn <= mark.turn;
  }

  /** Fulfilled once all marks published before the call are known; newer ones are followed. @throws BrokerUnavailable */
  async start(signal: AbortSignal): Promise<void> {
    const { broker, topics } = this.#parts;
    const ends = [...(await broker.extent(topics.superseded))];
    const positions = new Map(ends.map(([partition, { next }]) => [partition, { offset: next, before: null }]));
    for await (const record of topicRecords(broker, topics.superseded)) this.#take(record);
    const failed = (error: unknown) => {
      this.#parts.logger.warn({ err: error }, 'could not follow superseded deliveries; retrying');
      if (error instanceof TopicRecreated) positions.clear();
    };
    void retry(() => this.#follow(positions, signal), { signal, failed, pause: this.#parts.pause ?? sleep });
  }

  async #follow(positions: Map<number, Position>, signal: AbortSignal): Promise<void> {
    const { broker, topics } = this.#parts;
    for await (const page of broker.follow(topics.superseded, positions, { signal })) {
      for (const item of page.items) if ('offset' in item) this.#take(item);
      positions.set(page.partition, page.position);
    }
  }

  #take(record: ReceivedRecord): void {
    const mark = markIn(record);
    if (mark === null) return;
    const key = keyOf(mark.id, mark.payment);
    const turn = Math.max(mark.turn, this.#marks.get(key)?.turn ?? mark.turn);
    this.#marks.delete(key);
    this.#marks.set(key, { turn, at: isTime(record.timestamp) ? record.timestamp : this.#parts.now() });
    this.#forget();
  }

  #forget(): void {
    const before = this.#parts.now() - this.#parts.longestWaitMs;
    for (const [key, { at }] of this.#marks) {
      if (this.#marks.size <= OLD_MARKS || at >= before) return;
      this.#marks.delete(key);
    }
  }
}

function keyOf(id: string, payment: string | null): string {
  return `${id} ${payment}`;
}

/** Null for a foreign record. */
function markIn(record: ReceivedRecord): SupersededMark | null {
  const mark = jsonIn<SupersededMark>(record);
  return typeof mark?.id === 'string' && Number.isSafeInteger(mark.turn) ? mark : null;
}

/**
 * An unreadable batch stops its partition until an operator skips it: `events skip` writes a dead letter, and the
 * process that holds the partition takes the matching letter as its order. The process reads the dead letters from the
 * oldest on, so an order also works for a process that reaches the batch later. One reader serves all stopped
 * partitions.
 *
 *   nobody waits -> reading -> match: that partition continues; after the last one: nobody waits
 *                      \-> lost the broker -> reading again, from the oldest
 */
import type { Logger } from '../observability/logger.js';
import type { Broker, ReceivedRecord, UnreadableBatch } from '../ports/broker.js';
import { isOrderToSkip } from './retry/dead-letters.js';
import type { Topics } from './topics.js';

export interface StandstillParts {
  readonly broker: Pick<Broker, 'browse'>;
  readonly topics: Pick<Topics, 'deadLetters'>;
  readonly logger: Logger;
  /** Fulfilled after this many ms, or at once if the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

interface StoppedPartition {
  readonly batch: UnreadableBatch;
  readonly goOn: () => void;
}

export class Standstills {
  readonly #parts: StandstillParts;
  readonly #stopped = new Set<StoppedPartition>();
  #reading = new AbortController();

  constructor(parts: StandstillParts) {
    this.#parts = parts;
  }

  /** Fulfilled once there is an order. Rejected once the partition is lost. */
  readonly at = (batch: UnreadableBatch, gone: AbortSignal): Promise<void> => {
    this.#parts.logger.error(about(batch), 'a batch can not be read: its partition is stopped');
    return new Promise((resolve, reject) => {
      const partition = { batch, goOn: resolve };
      this.#stopped.add(partition);
      gone.addEventListener('abort', () => {
        if (!this.#stopped.delete(partition)) return;
        if (this.#stopped.size === 0) this.#reading.abort();
        reject(new Error('the partition is gone'));
      });
      this.#readFromTheOldest();
    });
  };

  /** The order for the new batch may be among the letters that the current reader has already passed. */
  #readFromTheOldest(): void {
    this.#reading.abort();
    this.#reading = new AbortController();
    void this.#read(this.#reading.signal);
  }

  /** Never rejects. */
  async #read(signal: AbortSignal): Promise<void> {
    const { broker, topics, logger, pause } = this.#parts;
    for (let ms = FIRST_PAUSE_MS; !signal.aborted; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
      try {
        for await (const letter of broker.browse(topics.deadLetters, { follow: signal })) this.#take(letter);
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'orders to step over a batch can not be read; retrying');
      }
      if (!signal.aborted) await pause(ms, signal);
    }
  }

  #take(letter: ReceivedRecord): void {
    for (const partition of this.#stopped) {
      if (!isOrderToSkip(letter, partition.batch)) continue;
      this.#stopped.delete(partition);
      this.#parts.logger.warn(about(partition.batch), 'the batch was stepped over by order of an operator');
      partition.goOn();
    }
    if (this.#stopped.size === 0) this.#reading.abort();
  }
}

export const MEND_THE_LOG =
  'make another replica the leader, or delete the records up to the end of the damage (kafka-delete-records)';

/** For an operator: the place and the reason. */
export function standstillText({ topic, partition, first, codec, reason }: UnreadableBatch): string {
  return `partition ${partition} of ${topic} is stopped at offset ${first}: its batch (${codec}) can not be read, ${reason}`;
}

/** Records that an open transaction holds back, from the first one's offset on. */
interface HeldBack {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly records: number;
}

/** For an operator: the place and the reason. */
export function heldBackText({ topic, partition, offset, records }: HeldBack): string {
  return `partition ${partition} of ${topic} holds back ${records} records from offset ${offset} on, for an open transaction`;
}

export const END_THE_TRANSACTION =
  'if this lasts: kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging --topic TOPIC names the transaction, and abort ends it';

/** For an operator: the remedy. */
export function standstillTodo({ topic, partition, first, digest }: UnreadableBatch): string {
  if (digest === null) return MEND_THE_LOG;
  return `fix the producer of such batches; then run account-webhooks events skip --topic ${topic} --partition ${partition} --offset ${first} --reason <why>`;
}

function about({ topic, partition, first, last, codec, reason }: UnreadableBatch) {
  return { topic, partition, offset: first, lastOffset: last, codec, reason };
}

/** Makes the consequence of a delivery step durable, however long the broker takes. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logger.js';
import { type Broker, BrokerRefused, type NewRecord, RecordRefused } from '../ports/broker.js';
import type { Topics } from './topics.js';

const PUBLISH_AGAIN_MS = 500;
const LETTER_AGAIN_MS = 30_000;

export interface DurablePublishParts {
  readonly broker: Pick<Broker, 'publish'>;
  readonly logger: Logger;
  /** Aborted when the stop has no time left: records without a durable consequence are redelivered after the next start. */
  readonly abandon: AbortSignal;
  /** Called if the broker refuses our credentials or permissions: no time mends that, so the dispatcher must end. */
  readonly refused: (error: BrokerRefused) => void;
}

/** An attempt was made. Losing its consequence, or repeating the attempt, would be worse than waiting for the broker. */
export async function publishUntilDurable(
  { broker, logger, abandon, refused }: DurablePublishParts,
  topic: string,
  record: NewRecord,
): Promise<void> {
  for (;;) {
    try {
      await broker.publish(topic, [record]);
      return;
    } catch (error) {
      if (error instanceof BrokerRefused) refused(error);
      if (abandon.aborted || error instanceof RecordRefused || error instanceof BrokerRefused) throw error;
      logger.error({ err: error, topic }, 'publishing to the broker failed; retrying');
      await pause(PUBLISH_AGAIN_MS, abandon);
    }
  }
}

/**
 * Publishes the first form of a record that the topic accepts; each form is smaller than the one before.
 * @returns the refusal if the topic accepts none of them
 */
export async function publishWhatFits(
  parts: DurablePublishParts,
  topic: string,
  forms: readonly (() => NewRecord)[],
): Promise<RecordRefused | null> {
  let refusal: RecordRefused | null = null;
  for (const form of forms) {
    const before: RecordRefused | null = refusal;
    refusal = await publishUntilDurable(parts, topic, form()).then(() => null, asRefusal);
    if (refusal) continue;
    if (before) parts.logger.warn({ err: before, topic }, 'a topic refuses a record; its optional parts are left out');
    return null;
  }
  return refusal;
}

export interface LetterParts extends DurablePublishParts {
  readonly topics: Pick<Topics, 'deadLetters'>;
  /** How many dead letters their topic refuses now. */
  readonly heldLetters: { count: number };
  /** Default: LETTER_AGAIN_MS. */
  readonly letterAgainMs?: number;
}

/**
 * Publishes the first form of a dead letter that its topic accepts, and retries until it accepts one. Hazard: a dead letter
 * is the only copy of its record, and a rejection would redeliver the record, with an attempt each time.
 * @param onHeld called when the topic refuses the dead letter
 */
export async function publishLetter(
  parts: LetterParts,
  forms: readonly (() => NewRecord)[],
  onHeld?: () => void,
): Promise<void> {
  const { topics, heldLetters, logger, abandon, letterAgainMs = LETTER_AGAIN_MS } = parts;
  let held = 0;
  try {
    for (;;) {
      const refusal = await publishWhatFits(parts, topics.deadLetters, forms);
      if (!refusal) return;
      if (held === 0) {
        logger.error({ err: refusal }, 'the dead-letter topic refuses a dead letter; retrying');
        heldLetters.count += 1;
        held = 1;
        onHeld?.();
      }
      await pause(letterAgainMs, abandon);
    }
  } finally {
    heldLetters.count -= held;
  }
}

/** The refusal, for a catch. @throws every other error */
export function asRefusal(error: unknown): RecordRefused {
  if (error instanceof RecordRefused) return error;
  throw error;
}

async function pause(ms: number, abandon: AbortSignal): Promise<void> {
  // Any number of records wait for the same broker. Node would warn of a leak on stderr.
  setMaxListeners(Number.POSITIVE_INFINITY, abandon);
  await delay(ms, undefined, { signal: abandon });
}

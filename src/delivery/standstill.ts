/**
 * A batch that can't be read stops its partition until an operator steps over it: `events skip` writes a dead letter, and
 * the process that holds the partition takes the one that fits as the order. It reads the dead letters from the oldest on,
 * so an order also holds for a process that comes to the batch later.
 */
import type { Logger } from '../observability/logger.js';
import type { Broker, UnreadableBatch } from '../ports/broker.js';
import { isOrderToSkip } from './dead-letters.js';
import type { Topics } from './topics.js';

export interface StandstillParts {
  readonly broker: Pick<Broker, 'browse'>;
  readonly topics: Pick<Topics, 'deadLetters'>;
  readonly logger: Logger;
}

export type Standstill = (batch: UnreadableBatch, gone: AbortSignal) => Promise<void>;

/** Fulfilled once there is an order. @throws BrokerUnavailable: to be asked again */
export function createStandstill({ broker, topics, logger }: StandstillParts): Standstill {
  const said = new Set<string>();
  return async (batch, gone) => {
    const key = String(batch.digest);
    if (!said.has(key)) logger.error(about(batch), 'a batch can not be read: its partition stands there');
    said.add(key);
    for await (const letter of broker.browse(topics.deadLetters, { follow: gone })) {
      if (!isOrderToSkip(letter, batch)) continue;
      logger.warn(about(batch), 'the batch was stepped over, as an operator ordered');
      said.delete(key);
      return;
    }
    throw new Error('nobody ordered it');
  };
}

export const MEND_THE_LOG =
  'let another replica lead it, or delete its records up to behind the damage (kafka-delete-records)';

/** For an operator: where, and why. */
export function standstillText({ topic, partition, first, codec, reason }: UnreadableBatch): string {
  return `partition ${partition} of ${topic} stands at offset ${first}: its batch (${codec}) can not be read, ${reason}`;
}

/** What to do about it. */
export function standstillTodo({ topic, partition, first, digest }: UnreadableBatch): string {
  if (digest === null) return MEND_THE_LOG;
  return `mend what publishes such batches; then account-webhooks events skip --topic ${topic} --partition ${partition} --offset ${first} --reason <why>`;
}

function about({ topic, partition, first, last, codec, reason }: UnreadableBatch) {
  return { topic, partition, offset: first, lastOffset: last, codec, reason };
}

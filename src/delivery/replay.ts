/**
 * Replay of dead letters: a delivery that was exhausted, and has not gone on since, begins the schedule again, at once
 * and with the same webhook-id. What was not valid is left: it would not be valid again.
 */
import type { Broker } from '../ports/broker.js';
import { type DeadLetter, readDeadLetter } from './dead-letters.js';
import { fromRetryRecord, toRetryRecord } from './delivery.js';
import { logEntry, type Outcome, outcomesOf } from './delivery-log.js';
import type { Delay } from './retry-schedule.js';
import type { Topics } from './topics.js';

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** The first tier of the schedule. */
  readonly tier: Delay;
  readonly now: () => number;
}

/** Those that were put back, each after its retry record is durable. @throws BrokerUnavailable */
export async function* replayDeadLetters(
  { broker, topics, tier, now }: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<DeadLetter> {
  const outcomes = await outcomesOf(broker.browse(topics.deliveries));
  for await (const record of broker.browse(topics.deadLetters)) {
    const letter = readDeadLetter(record);
    const delivery = letter.reason === 'exhausted' ? fromRetryRecord(record) : null;
    if (!delivery || !wanted(letter) || !isExhausted(outcomes.get(delivery.id))) continue;
    const due = now();
    await broker.publish(topics.tier(tier), [toRetryRecord({ ...delivery, step: 0 }, due)]);
    await broker.publish(topics.deliveries, [logEntry(delivery, 'retrying', null, due)]);
    outcomes.set(delivery.id, 'retrying');
    yield letter;
  }
}

/** The log may have lost it to retention: the letter says that it was. */
function isExhausted(outcome: Outcome | undefined): boolean {
  return outcome === undefined || outcome === 'exhausted';
}

/**
 * Replay of dead letters: a delivery that was exhausted, and has not gone on since, begins the schedule again, in two
 * seconds and with the same webhook-id. What was not valid is left: it would not be valid again.
 */
import type { Broker } from '../ports/broker.js';
import { type DeadLetter, readDeadLetter } from './dead-letters.js';
import { fromRetryRecord, toRetryRecord } from './delivery.js';
import { logEntry, type Outcome, outcomesOf } from './delivery-log.js';
import type { Delay } from './retry-schedule.js';
import type { Topics } from './topics.js';

/** So that the log says "retrying" before it says what came of it. */
const BEFORE_ITS_ATTEMPT_MS = 2_000;

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
  await broker.ensureTopics([topics.tier(tier), topics.deliveries]);
  const outcomes = await outcomesOf(broker.browse(topics.deliveries));
  for await (const record of broker.browse(topics.deadLetters)) {
    const letter = readDeadLetter(record);
    const delivery = letter.reason === 'exhausted' ? fromRetryRecord(record) : null;
    if (!delivery || !wanted(letter) || !isExhausted(outcomes.get(delivery.id))) continue;
    const due = now() + BEFORE_ITS_ATTEMPT_MS;
    await Promise.all([
      broker.publish(topics.tier(tier), [toRetryRecord({ ...delivery, step: 0 }, due)]),
      broker.publish(topics.deliveries, [logEntry(delivery, 'retrying', null, due)]),
    ]);
    outcomes.set(delivery.id, 'retrying');
    yield letter;
  }
}

/** The log may have lost it to retention: the letter says that it was. */
function isExhausted(outcome: Outcome | undefined): boolean {
  return outcome === undefined || outcome === 'exhausted';
}

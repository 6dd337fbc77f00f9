/**
 * Replay of dead letters: a delivery that was exhausted, and has not gone on since, begins the schedule again, in two
 * seconds and under the same webhook-id. Where the webhook is still off, it ends as another dead letter. What was not valid
 * is left: it would not be valid again. So is a delivery for a webhook of another history.
 */
import type { Broker } from '../../ports/broker.js';
import type { Said } from '../../ports/delivery-order.js';
import { type Delivery, fromRetryRecord, toRetryRecord } from '../delivery.js';
import { logEntry, saidOfAll } from '../log/delivery-log.js';
import type { Topics } from '../topics.js';
import { type DeadLetter, type DeadLetterReason, readDeadLetter } from './dead-letters.js';
import type { Delay } from './retry-schedule.js';

/** So that the log says "retrying" before it says what came of it. */
const BEFORE_ITS_ATTEMPT_MS = 2_000;

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** The first tier of the schedule. */
  readonly tier: Delay;
  readonly now: () => number;
}

/** left: the webhook that it was for is of another history, so nothing would be sent. */
export interface Replay {
  readonly kind: 'replayed' | 'left';
  readonly letter: DeadLetter;
}

/**
 * First each delivery that is left, once; then those that were put back, each after its retry record is durable.
 * @throws BrokerUnavailable
 */
export async function* replayDeadLetters(
  parts: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<Replay> {
  const { broker, topics, tier } = parts;
  await broker.ensureTopics([topics.tier(tier), topics.deliveries]);
  const said = await saidOfAll(broker.browse(topics.deliveries));
  const ofOtherHistory = new Set<string>();
  for await (const { letter } of letters(parts, ['other-history'], wanted)) {
    const isNew = ofOtherHistory.size < ofOtherHistory.add(named(letter)).size;
    if (isNew && isExhausted(said.get(letter.deliveryId ?? ''))) yield { kind: 'left', letter };
  }
  for await (const { record, letter } of letters(parts, ['exhausted', 'deactivated'], wanted)) {
    const delivery = fromRetryRecord(record);
    // Also one that was exhausted before its history was replaced: it would only become a dead letter again.
    if (!delivery || ofOtherHistory.has(named(letter)) || !isExhausted(said.get(delivery.id))) continue;
    said.set(delivery.id, await putBack(parts, delivery, said.get(delivery.id)?.turn ?? 0));
    yield { kind: 'replayed', letter };
  }
}

/**
 * The record first, and then the entry: where only the record was taken, the log still says exhausted, and the next replay
 * does it again, with the same turn.
 */
async function putBack({ broker, topics, tier, now }: ReplayParts, letter: Delivery, knownTurn: number): Promise<Said> {
  const due = now() + BEFORE_ITS_ATTEMPT_MS;
  const delivery = { ...letter, step: 0, turn: Math.max(letter.turn, knownTurn) + 1 };
  await broker.publish(topics.tier(tier), [toRetryRecord(delivery, due)]);
  await broker.publish(topics.deliveries, [logEntry(delivery, 'retrying', null, due)]);
  return { outcome: 'retrying', turn: delivery.turn, at: now(), nextAttemptAt: new Date(due).toISOString() };
}

async function* letters(
  { broker, topics }: ReplayParts,
  reasons: readonly DeadLetterReason[],
  wanted: (letter: DeadLetter) => boolean,
) {
  for await (const record of broker.browse(topics.deadLetters)) {
    const letter = readDeadLetter(record);
    if (letter.reason !== null && reasons.includes(letter.reason) && wanted(letter)) yield { record, letter };
  }
}

/** Another history may have a delivery of the same id, to the webhook that has the webhook's id there. */
function named({ deliveryId, webhookEvent }: DeadLetter): string {
  return `${deliveryId} ${webhookEvent}`;
}

/** The log may have lost it to retention: the letter says that it was. */
function isExhausted(said: Said | undefined): boolean {
  return said === undefined || said.outcome === 'exhausted';
}

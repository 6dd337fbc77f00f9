/**
 * Replays dead letters. An exhausted delivery that has not continued since restarts the schedule in two seconds, with
 * the same webhook-id. If its webhook is still off, it ends as another dead letter. Invalid records are left: they
 * would fail again. So are deliveries for a webhook of another history, and all letters of an unreadable account; once
 * the account is readable, its unrouted payments are published again.
 */
import type { Broker, ReceivedRecord } from '../../ports/broker.js';
import type { Said } from '../../ports/delivery-order.js';
import { type Delivery, fromRetryRecord, toRetryRecord } from '../delivery.js';
import { logEntry, saidOfAll } from '../log/delivery-log.js';
import type { Place } from '../record-place.js';
import type { Topics } from '../topics.js';
import { type DeadLetter, type DeadLetterReason, readDeadLetter, unroutedPlace } from './dead-letters.js';
import { PaymentsAgain } from './publish-again.js';
import type { Delay } from './retry-schedule.js';

/** So that the log says "retrying" before the result. */
const BEFORE_ITS_ATTEMPT_MS = 2_000;

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** One that a dispatcher reads: no command makes one. Null: there is none. */
  readonly tier: Delay | null;
  /** According to the event store. @throws StoreUnavailable */
  readonly isReadable: (accountId: number) => Promise<boolean>;
  readonly now: () => number;
}

/**
 * replayed: a delivery. published: a payment, again. left: the delivery's webhook is of another history, so nothing
 * would be sent. unreadable: the account is still unreadable, so a replay would only make another dead letter.
 */
export interface Replay {
  readonly kind: 'replayed' | 'published' | 'left' | 'unreadable';
  readonly letter: DeadLetter;
}

/**
 * Yields each delivery that is left, once; then each replayed delivery after its retry record is durable, and each
 * payment after its publication.
 *
 * @throws BrokerUnavailable, StoreUnavailable
 */
export async function* replayDeadLetters(
  parts: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<Replay> {
  const { broker, topics } = parts;
  await broker.ensureTopics([topics.deliveries]);
  const said = await saidOfAll(broker.browse(topics.deliveries));
  const ofOtherHistory = new Set<string>();
  for await (const { letter } of letters(parts, ['other-history'], wanted)) {
    const isNew = ofOtherHistory.size < ofOtherHistory.add(named(letter)).size;
    if (isNew && isExhausted(said.get(letter.deliveryId ?? ''))) yield { kind: 'left', letter };
  }
  const replaying: Replaying = { ...parts, said, ofOtherHistory, payments: new PaymentsAgain(parts) };
  for await (const { record, letter } of letters(parts, ['exhausted', 'deactivated', 'account-unreadable'], wanted)) {
    const place = unroutedPlace(record);
    const kind = place
      ? await replayPayment(replaying, { record, letter }, place)
      : await replayDelivery(replaying, record, letter);
    if (kind !== null) yield { kind, letter };
  }
}

interface Replaying extends ReplayParts {
  readonly said: Map<string, Said>;
  readonly ofOtherHistory: ReadonlySet<string>;
  readonly payments: PaymentsAgain;
}

/** Null for a payment that was already published again. */
async function replayPayment(
  { payments, isReadable }: Replaying,
  { record, letter }: { readonly record: ReceivedRecord; readonly letter: DeadLetter },
  place: Place,
): Promise<Replay['kind'] | null> {
  if (await payments.isPublished(place)) return null;
  if (!(await isReadable(letter.accountId ?? 0))) return 'unreadable';
  await payments.publish(record, place);
  return 'published';
}

/** Null for a delivery that has continued. */
async function replayDelivery(
  replaying: Replaying,
  record: ReceivedRecord,
  letter: DeadLetter,
): Promise<Replay['kind'] | null> {
  const { said, ofOtherHistory, isReadable } = replaying;
  const delivery = fromRetryRecord(record);
  // Includes one that was exhausted before its history was replaced: a replay would only make another dead letter.
  if (!delivery || ofOtherHistory.has(named(letter)) || !isExhausted(said.get(delivery.id))) return null;
  if (letter.reason === 'account-unreadable' && !(await isReadable(delivery.accountId))) return 'unreadable';
  said.set(delivery.id, await putBack(replaying, delivery, said.get(delivery.id)?.turn ?? 0));
  return 'replayed';
}

/**
 * The record first, then the log entry. If only the record became durable, the log still says exhausted, and the next
 * replay repeats it with the same turn.
 */
async function putBack({ broker, topics, tier, now }: ReplayParts, letter: Delivery, knownTurn: number): Promise<Said> {
  if (!tier) throw new Error('there is no retry tier: start the service, which makes its tiers, and replay again');
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

/** Another history may have a delivery with the same id, to the webhook that has the same webhook id there. */
function named({ deliveryId, webhookEvent }: DeadLetter): string {
  return `${deliveryId} ${webhookEvent}`;
}

/** The log may have lost the delivery to retention: then the letter itself says that it was exhausted. */
function isExhausted(said: Said | undefined): boolean {
  return said === undefined || said.outcome === 'exhausted';
}

/**
 * Replays dead letters. A delivery that ended without a 2xx, and has not continued since, restarts the schedule in two
 * seconds, with the same webhook-id. It is left if nothing would be sent: its webhook is not active, or belongs to
 * another history, or its account is unreadable. Payments of an unreadable account are published again once it is
 * readable, and so are the records of an unreadable batch. Invalid records would fail again.
 */

import type { Broker, ReceivedRecord } from '../../ports/broker.js';
import type { Said } from '../../ports/delivery-order.js';
import { topicRecords } from '../../ports/topic-records.js';
import { putBack } from '../again/put-back.js';
import { type Delivery, foreignHeaders, fromRetryRecord } from '../delivery.js';
import { asRefusal } from '../durable-publish.js';
import { deliveryKey, saidOfAll } from '../log/delivery-log.js';
import type { Recipient, Unsent } from '../recipient.js';
import type { Place } from '../record-place.js';
import type { Topics } from '../topics.js';
import { buriedBatch, type DeadLetter, END_REASONS, readDeadLetter, unroutedPlace } from './dead-letters.js';
import { RecordsAgain } from './publish-again.js';
import type { Delay } from './retry-schedule.js';

/** So that the log says "retrying" before the result. */
const BEFORE_ITS_ATTEMPT_MS = 2_000;
const ENDS: ReadonlySet<DeadLetter['reason']> = new Set<DeadLetter['reason']>(END_REASONS);

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** One that a dispatcher reads: no command makes one. Null: there is none. */
  readonly tier: Delay | null;
  /** According to the event store. @throws StoreUnavailable */
  readonly recipientNow: (delivery: Delivery) => Promise<Recipient>;
  /** According to the event store. @throws StoreUnavailable */
  readonly isReadable: (accountId: number) => Promise<boolean>;
  readonly now: () => number;
  /** Who replays. */
  readonly actor: string;
}

/** Why a letter is not replayed; record-refused: by the topic to which it would be published. */
export type Left = Unsent['kind'] | 'record-refused' | 'unreadable-batch';

/** replayed: a delivery. published: a payment, or all records of a batch, again. */
export interface Replay {
  readonly kind: 'replayed' | 'published' | Left;
  readonly letter: DeadLetter;
}

/**
 * Yields each replayed delivery after its retry record is durable, each payment or batch after its publication, and each delivery
 * that is left, once.
 *
 * @throws BrokerUnavailable, StoreUnavailable
 */
export async function* replayDeadLetters(
  parts: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<Replay> {
  const { broker, topics } = parts;
  await broker.ensureTopics([topics.deliveries]);
  const said = await saidOfAll(topicRecords(broker, topics.deliveries));
  const replaying: Replaying = { ...parts, said, left: new Set(), again: new RecordsAgain(parts), batches: new Set() };
  for await (const record of topicRecords(broker, topics.deadLetters)) {
    const letter = readDeadLetter(record);
    const isReplayed = ENDS.has(letter.reason) || letter.reason === 'unreadable-batch';
    if (!isReplayed || !wanted(letter)) continue;
    const kind = await replayOf(replaying, { record, letter }).catch(
      (error) => asRefusal(error) && ('record-refused' as const),
    );
    if (kind !== null) yield { kind, letter };
  }
}

interface Replaying extends ReplayParts {
  readonly said: Map<string, Said>;
  /** The deliveries that are left, with the webhook that each was for. */
  readonly left: Set<string>;
  readonly again: RecordsAgain;
  /** Those of the letters so far: a crash may have written two for one. */
  readonly batches: Set<string>;
}

interface Read {
  readonly record: ReceivedRecord;
  readonly letter: DeadLetter;
}

async function replayOf(replaying: Replaying, { record, letter }: Read): Promise<Replay['kind'] | null> {
  if (letter.reason === 'unreadable-batch') return replayBatch(replaying, letter);
  const place = unroutedPlace(record);
  return place ? replayPayment(replaying, { record, letter }, place) : replayDelivery(replaying, record);
}

async function replayBatch({ again, batches }: Replaying, letter: DeadLetter): Promise<Replay['kind'] | null> {
  const batch = buriedBatch(letter);
  if (!batch || batches.size === batches.add(`${letter.source} ${letter.digest}`).size) return null;
  return again.publishBatch(batch);
}

/** Null for a payment that was published again before, was routed, or is missing from its letter. */
async function replayPayment(
  { again, isReadable }: Replaying,
  { record, letter }: Read,
  place: Place,
): Promise<Replay['kind'] | null> {
  if (letter.reason === 'record-refused' || letter.bytes !== null) return null;
  if (await again.isPublished(place)) return null;
  if (!(await isReadable(letter.accountId ?? 0))) return 'account-unreadable';
  await again.publish({ ...record, headers: foreignHeaders(record) }, place);
  return 'published';
}

/** Null for a delivery that has continued, or whose other letter was left. */
async function replayDelivery(replaying: Replaying, record: ReceivedRecord): Promise<Replay['kind'] | null> {
  const { said, left, recipientNow } = replaying;
  const delivery = fromRetryRecord(record);
  if (!delivery) return null;
  const key = deliveryKey(delivery);
  if (!isExhausted(said.get(key))) return null;
  const to = await recipientNow(delivery);
  if (to.kind !== 'active') return left.size < left.add(`${key} ${delivery.webhookEvent}`).size ? to.kind : null;
  said.set(key, await replayed(replaying, delivery, said.get(key)?.turn ?? 0));
  return 'replayed';
}

async function replayed(parts: ReplayParts, letter: Delivery, knownTurn: number): Promise<Said> {
  const { tier, now, actor } = parts;
  if (!tier) throw new Error('there is no retry tier: start the service, which makes its tiers, and replay again');
  const due = now() + BEFORE_ITS_ATTEMPT_MS;
  const asked = { trigger: 'replay', actor, recovery: null } as const;
  const delivery = { ...letter, ...asked, step: 0, turn: Math.max(letter.turn, knownTurn) + 1 };
  await putBack(parts, delivery, { tier, due, supersededTurn: null });
  return { outcome: 'retrying', turn: delivery.turn, at: now(), nextAttemptAt: new Date(due).toISOString() };
}

/** The log may have lost the delivery to retention: then the letter itself says that it was exhausted. */
function isExhausted(said: Said | undefined): boolean {
  return said === undefined || said.outcome === 'exhausted';
}

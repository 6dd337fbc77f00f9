/**
 * Replays dead letters. A delivery that was given up, and has not continued since, restarts the schedule now, by a request
 * (again/request.ts), with the same webhook-id. It is left if nothing would be sent. Payments of an unreadable account are published
 * again once it is readable, and so are the records of an unreadable batch. Invalid records would fail again.
 */
import type { Broker, ReceivedRecord } from '../../ports/broker.js';
import { type DeliveryFold, statusOf, withStatus } from '../../ports/delivery-order.js';
import { topicRecords } from '../../ports/topic-records.js';
import { publishRequest, toRequest } from '../again/request.js';
import { buriedBatch, type DeadLetter, END_REASONS, readDeadLetter, unroutedPlace } from '../dead-letters.js';
import { type Delivery, foreignHeaders, fromRetryRecord } from '../delivery.js';
import { deliveryKey, deliveryTopics, foldOfAll } from '../log/delivery-log.js';
import { RecordsAgain } from '../payment/records-again.js';
import type { Recipient, Unsent } from '../recipient.js';
import type { RecordOffset } from '../record-place.js';
import type { Topics } from '../topics.js';

const ENDS: ReadonlySet<DeadLetter['reason']> = new Set<DeadLetter['reason']>(END_REASONS);

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** Both according to the event store. @throws StoreUnavailable */
  readonly recipientNow: (delivery: Delivery) => Promise<Recipient>;
  readonly isReadable: (accountId: number) => Promise<boolean>;
  readonly now: () => number;
  readonly actor: string;
}

/** Why a letter is not replayed. */
export type Left = Unsent['kind'] | 'unreadable-batch';

/** replayed: a delivery. published: a payment, or all records of a batch, again. */
export interface Replay {
  readonly kind: 'replayed' | 'published' | Left;
  readonly letter: DeadLetter;
}

/**
 * Yields each replayed delivery after its request is durable, each payment or batch after its publication, and each
 * delivery that is left, once.
 * @throws BrokerUnavailable, RecordRefused, StoreUnavailable
 */
export async function* replayDeadLetters(
  parts: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<Replay> {
  const { broker, topics } = parts;
  await broker.ensureTopics([topics.deliveries, topics.requests]);
  const folds = await foldOfAll(deliveryTopics(broker, topics));
  const replaying: Replaying = { ...parts, folds, left: new Set(), again: new RecordsAgain(broker, topics) };
  for await (const record of topicRecords(broker, topics.deadLetters)) {
    const letter = readDeadLetter(record);
    const kind = wanted(letter) ? await kindOf(replaying, record, letter) : null;
    if (kind !== null) yield { kind, letter };
  }
}

interface Replaying extends ReplayParts {
  /** By delivery, with what this run requests. */
  readonly folds: Map<string, DeliveryFold>;
  /** The deliveries that are left, with the webhook of each, and the batches so far: a crash may have written two letters for one. */
  readonly left: Set<string>;
  readonly again: RecordsAgain;
}

type Kind = Replay['kind'] | null;

async function kindOf(replaying: Replaying, record: ReceivedRecord, letter: DeadLetter): Promise<Kind> {
  if (letter.reason === 'unreadable-batch') return replayBatch(replaying, letter);
  if (!ENDS.has(letter.reason)) return null;
  const place = unroutedPlace(record);
  return place ? replayPayment(replaying, record, letter, place) : replayDelivery(replaying, record);
}

/** Null for a batch that was published again before, or whose other letter was left. */
async function replayBatch({ again, left }: Replaying, letter: DeadLetter): Promise<Kind> {
  const batch = buriedBatch(letter);
  const kind = batch && (await again.publishBatch(batch));
  return kind === 'unreadable-batch' ? leftOnce(left, `${letter.source} ${letter.digest}`, kind) : kind;
}

/** Null for a payment that was published again before. */
async function replayPayment(
  { again, isReadable }: Replaying,
  record: ReceivedRecord,
  letter: DeadLetter,
  place: RecordOffset,
): Promise<Kind> {
  if (await again.isPublished(place)) return null;
  if (!(await isReadable(letter.accountId ?? 0))) return 'account-unreadable';
  await again.publish({ ...record, headers: foreignHeaders(record) }, place);
  return 'published';
}

/** Null for a delivery that has continued, or whose other letter was left. */
async function replayDelivery(replaying: Replaying, record: ReceivedRecord): Promise<Kind> {
  const { folds, left, recipientNow } = replaying;
  const delivery = fromRetryRecord(record);
  if (!delivery) return null;
  const key = deliveryKey(delivery);
  const fold = folds.get(key);
  // The log may have lost the delivery to retention: then the letter itself says that it was exhausted.
  if (fold && statusOf(fold).outcome !== 'exhausted') return null;
  const to = await recipientNow(delivery);
  if (to.kind !== 'active') return leftOnce(left, `${key} ${delivery.webhookEvent}`, to.kind);
  const asked = { trigger: 'replay', actor: replaying.actor } as const;
  const chain = await publishRequest(replaying, toRequest({ ...delivery, step: 0 }, asked));
  const waits = { outcome: 'retrying', chain, attempts: 0, at: replaying.now(), nextAttemptAt: null } as const;
  folds.set(key, withStatus(fold, waits));
  return 'replayed';
}

function leftOnce(left: Set<string>, key: string, kind: Left): Left | null {
  return left.size < left.add(key).size ? kind : null;
}

/**
 * Replays dead letters. A delivery that was given up, and has not continued since, restarts the schedule now, by a request
 * (again/request.ts). It is left if nothing would be sent. Payments of an unreadable account are published again once it is
 * readable, as are the records of an unreadable batch. Invalid records would fail again.
 */
import type { Broker, ReceivedRecord } from '../../ports/broker.js';
import { type DeliveryStatus, statusOf } from '../../ports/delivery-order.js';
import type { Scratch } from '../../ports/scratch.js';
import { topicRecords } from '../../ports/topic-records.js';
import { publishRequest, toRequest } from '../again/request.js';
import { buriedBatch, type DeadLetter, END_REASONS, readDeadLetter, unroutedPlace } from '../dead-letters.js';
import { type Delivery, foreignHeaders, fromRetryRecord } from '../delivery.js';
import { deliveryTopics, LoggedEntries, statusIn } from '../log/delivery-log.js';
import type { Recipient, Unsent } from '../recipient.js';
import type { RecordOffset } from '../record-place.js';
import type { Topics } from '../topics.js';
import { RecordsAgain } from './records-again.js';

/** left_out: with the webhook of each delivery, and the batches: a crash may have written two letters for one. */
const SCHEMA = `CREATE TABLE letters (id TEXT, payment TEXT, PRIMARY KEY (id, payment)) WITHOUT ROWID;
  CREATE TABLE left_out (key TEXT PRIMARY KEY) WITHOUT ROWID`;
const LETTER = 'INSERT INTO letters VALUES ($id, $payment) ON CONFLICT DO NOTHING';
const HAS_LETTER = 'SELECT 1 FROM letters WHERE id = $id AND payment = $payment';
const LEAVE = 'INSERT INTO left_out VALUES ($key) ON CONFLICT DO NOTHING RETURNING 1';

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** Both according to the event store. @throws StoreUnavailable */
  readonly recipientNow: (delivery: Delivery) => Promise<Recipient>;
  readonly isReadable: (accountId: number) => Promise<boolean>;
  readonly now: () => number;
  readonly actor: string;
  /** Empty. */
  readonly scratch: Scratch;
}

/** Why a letter is not replayed. */
export type Left = Unsent['kind'] | 'unreadable-batch';
/** replayed: a delivery. published: a payment, or all records of a batch, again. */
export type Replay = { readonly kind: 'replayed' | 'published' | Left; readonly letter: DeadLetter };

/**
 * Yields each replayed delivery after its request is durable, each payment or batch after its publication, and each
 * delivery that is left, once.
 * @throws BrokerUnavailable, RecordRefused, StoreUnavailable, ScratchUnusable
 */
export async function* replayDeadLetters(
  parts: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<Replay> {
  const { broker, topics, scratch } = parts;
  await broker.ensureTopics([topics.deliveries, topics.requests]);
  scratch.define(SCHEMA);
  for await (const record of topicRecords(broker, topics.deadLetters)) {
    const delivery = wanted(readDeadLetter(record)) ? fromRetryRecord(record) : null;
    if (delivery) scratch.run(LETTER, keyOf(delivery));
  }
  const entries = new LoggedEntries<DeliveryStatus>(scratch);
  await entries.read(deliveryTopics(broker, topics), (entry) =>
    scratch.row(HAS_LETTER, keyOf(entry)) ? statusIn(entry, entry.at) : null,
  );
  const replaying: Replaying = { ...parts, entries, again: new RecordsAgain(broker, topics) };
  for await (const record of topicRecords(broker, topics.deadLetters)) {
    const letter = readDeadLetter(record);
    const kind = wanted(letter) ? await kindOf(replaying, record, letter) : null;
    if (kind !== null) yield { kind, letter };
  }
}

interface Replaying extends ReplayParts {
  /** Of the deliveries with letters, and what this run requests. */
  readonly entries: LoggedEntries<DeliveryStatus>;
  readonly again: RecordsAgain;
}

type Kind = Replay['kind'] | null;

async function kindOf(replaying: Replaying, record: ReceivedRecord, letter: DeadLetter): Promise<Kind> {
  if (letter.reason === 'unreadable-batch') return replayBatch(replaying, letter);
  if (!END_REASONS.some((reason) => reason === letter.reason)) return null;
  const place = unroutedPlace(record);
  return place ? replayPayment(replaying, record, letter, place) : replayDelivery(replaying, record);
}

/** Null for a batch that was published again before, or whose other letter was left. */
async function replayBatch({ again, scratch }: Replaying, letter: DeadLetter): Promise<Kind> {
  const batch = buriedBatch(letter);
  const kind = batch && (await again.publishBatch(batch));
  return kind === 'unreadable-batch' ? leftOnce(scratch, `${letter.source} ${letter.digest}`, kind) : kind;
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
  const { entries, scratch, recipientNow } = replaying;
  const delivery = fromRetryRecord(record);
  // A letter that came after the others were read: the next run looks at its entries.
  if (!delivery || !scratch.row(HAS_LETTER, keyOf(delivery))) return null;
  const fold = entries.fold(delivery);
  // The log may have lost the delivery to retention: then the letter itself says that it was exhausted.
  if (fold && statusOf(fold).outcome !== 'exhausted') return null;
  const { kind } = await recipientNow(delivery);
  const key = `${delivery.id} ${delivery.payment} ${delivery.webhookEvent}`;
  if (kind !== 'active') return leftOnce(scratch, key, kind);
  const asked = { trigger: 'replay', actor: replaying.actor } as const;
  const chain = await publishRequest(replaying, toRequest({ ...delivery, step: 0 }, asked));
  const waits = { outcome: 'retrying', chain, attempts: 0, at: replaying.now(), nextAttemptAt: null } as const;
  entries.add(delivery, waits);
  return 'replayed';
}

const leftOnce = (scratch: Scratch, key: string, kind: Left) => (scratch.row(LEAVE, { key }) ? kind : null);

function keyOf({ id, payment }: { readonly id: string; readonly payment?: string | null | undefined }) {
  return { id, payment: payment ?? '' };
}

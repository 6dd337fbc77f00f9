/**
 * Replays dead letters. A delivery that ended without a 2xx, and has not continued since, restarts the schedule in two
 * seconds, with the same webhook-id. It is left if nothing would be sent. Payments of an unreadable account are published
 * again once it is readable, and so are the records of an unreadable batch. Invalid records would fail again.
 */
import { type Broker, headerText, type NewRecord, type ReceivedRecord, type RecordHeader } from '../../ports/broker.js';
import type { Said } from '../../ports/delivery-order.js';
import { topicRecords } from '../../ports/topic-records.js';
import { putBack } from '../again/send-again.js';
import { type Delivery, foreignHeaders, fromRetryRecord } from '../delivery.js';
import { asRefusal } from '../durable-publish.js';
import { deliveryKey, saidOfAll } from '../log/delivery-log.js';
import type { Recipient, Unsent } from '../recipient.js';
import { paymentText, placeOf, type RecordOffset } from '../record-place.js';
import type { Topics } from '../topics.js';
import {
  type BuriedBatch,
  buriedBatch,
  type DeadLetter,
  END_REASONS,
  readDeadLetter,
  unroutedPlace,
} from './dead-letters.js';
import type { Delay } from './retry-schedule.js';

/** So that the log says "retrying" before the result. */
const BEFORE_ITS_ATTEMPT_MS = 2_000;
const ENDS: ReadonlySet<DeadLetter['reason']> = new Set<DeadLetter['reason']>(END_REASONS);

export interface ReplayParts {
  readonly broker: Broker;
  readonly topics: Topics;
  /** One that a dispatcher reads: no command makes one. Null: there is none. */
  readonly tier: Delay | null;
  /** Both according to the event store. @throws StoreUnavailable */
  readonly recipientNow: (delivery: Delivery) => Promise<Recipient>;
  readonly isReadable: (accountId: number) => Promise<boolean>;
  readonly now: () => number;
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
 * Yields each replayed delivery after its retry record is durable, each payment or batch after its publication, and each
 * delivery that is left, once.
 * @throws BrokerUnavailable, StoreUnavailable
 */
export async function* replayDeadLetters(
  parts: ReplayParts,
  wanted: (letter: DeadLetter) => boolean,
): AsyncIterable<Replay> {
  const { broker, topics } = parts;
  await broker.ensureTopics([topics.deliveries]);
  const said = await saidOfAll(topicRecords(broker, topics.deliveries));
  const replaying: Replaying = { ...parts, said, left: new Set(), again: new RecordsAgain(broker, topics) };
  for await (const record of topicRecords(broker, topics.deadLetters)) {
    const letter = readDeadLetter(record);
    const isReplayed = ENDS.has(letter.reason) || letter.reason === 'unreadable-batch';
    if (!isReplayed || !wanted(letter)) continue;
    const kind = await kindOf(replaying, record, letter).catch(
      (error) => asRefusal(error) && ('record-refused' as const),
    );
    if (kind !== null) yield { kind, letter };
  }
}

interface Replaying extends ReplayParts {
  readonly said: Map<string, Said>;
  /** The deliveries that are left, with the webhook of each, and the batches so far: a crash may have written two letters for one. */
  readonly left: Set<string>;
  readonly again: RecordsAgain;
}

type Kind = Replay['kind'] | null;

async function kindOf(replaying: Replaying, record: ReceivedRecord, letter: DeadLetter): Promise<Kind> {
  if (letter.reason === 'unreadable-batch') return replayBatch(replaying, letter);
  const place = unroutedPlace(record);
  return place ? replayPayment(replaying, record, letter, place) : replayDelivery(replaying, record);
}

/** Null for a batch that was published again before, or that has another letter before this one. */
async function replayBatch({ again, left }: Replaying, letter: DeadLetter): Promise<Kind> {
  const batch = buriedBatch(letter);
  if (!batch || left.size === left.add(`${letter.source} ${letter.digest}`).size) return null;
  return again.publishBatch(batch);
}

/** Null for a payment that was published again before, was routed, or is missing from its letter. */
async function replayPayment(
  { again, isReadable }: Replaying,
  record: ReceivedRecord,
  letter: DeadLetter,
  place: RecordOffset,
): Promise<Kind> {
  if (letter.reason === 'record-refused' || letter.bytes !== null) return null;
  if (await again.isPublished(place)) return null;
  if (!(await isReadable(letter.accountId ?? 0))) return 'account-unreadable';
  await again.publish({ ...record, headers: foreignHeaders(record) }, place);
  return 'published';
}

/** Null for a delivery that has continued, or whose other letter was left. */
async function replayDelivery(replaying: Replaying, record: ReceivedRecord): Promise<Kind> {
  const { said, left, recipientNow } = replaying;
  const delivery = fromRetryRecord(record);
  if (!delivery) return null;
  const key = deliveryKey(delivery);
  // The log may have lost the delivery to retention: then the letter itself says that it was exhausted.
  if ((said.get(key)?.outcome ?? 'exhausted') !== 'exhausted') return null;
  const to = await recipientNow(delivery);
  if (to.kind !== 'active') return leftOnce(left, `${key} ${delivery.webhookEvent}`, to.kind);
  said.set(key, await replayed(replaying, delivery, said.get(key)?.turn ?? 0));
  return 'replayed';
}

function leftOnce(left: Set<string>, key: string, kind: Left): Left | null {
  return left.size < left.add(key).size ? kind : null;
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

const REPLAY_OF = 'aw-replay-of';

/**
 * Publishes records again that were not delivered. Each names the record that it repeats, so a replay that is repeated or
 * interrupted publishes each one once.
 */
class RecordsAgain {
  readonly #broker: Broker;
  readonly #topics: Topics;
  /** By topic, the places that its records name as repeated. */
  readonly #published = new Map<string, Promise<Set<string>>>();

  constructor(broker: Broker, topics: Topics) {
    this.#broker = broker;
    this.#topics = topics;
  }

  /** Whether it was published again, as far as the topics still show. @throws BrokerUnavailable */
  async isPublished(place: RecordOffset): Promise<boolean> {
    for (const topic of this.#topicsOf(place)) {
      if ((await this.#publishedIn(topic)).has(paymentText(place))) return true;
    }
    return false;
  }

  /** @param place the original place of the record @throws BrokerUnavailable, RecordRefused */
  async publish({ key, value, headers }: NewRecord, place: RecordOffset): Promise<void> {
    const topics = this.#topicsOf(place);
    // A topic without consumers would keep the record forever.
    const topic = topics.includes(place.topic) ? place.topic : (topics[0] ?? place.topic);
    const replayOf = paymentText(place);
    const mark: RecordHeader = [REPLAY_OF, Buffer.from(replayOf)];
    await this.#broker.publish(topic, [{ key, value, headers: [...headers, mark] }]);
    (await this.#publishedIn(topic)).add(replayOf);
  }

  /**
   * unreadable-batch: the batch is still unreadable, or its topic no longer has it. Null: all was published again before.
   * @throws BrokerUnavailable, RecordRefused
   */
  async publishBatch(batch: BuriedBatch): Promise<'published' | 'unreadable-batch' | null> {
    const records = (await this.#isOfItsTopic(batch)) ? await this.#read(batch) : [];
    let published = 0;
    for (const record of records) {
      const place = placeOf(record);
      if (await this.isPublished(place)) continue;
      await this.publish(record, place);
      published += 1;
    }
    if (published > 0) return 'published';
    return records.length > 0 ? null : 'unreadable-batch';
  }

  /** In a recreated topic, the record before the batch has another time. */
  async #isOfItsTopic({ topic, partition, first, after }: BuriedBatch): Promise<boolean> {
    if (after === null) return true;
    const before = await this.#broker.read(topic, partition, first - 1);
    return before === null || before.timestamp === after;
  }

  async #read({ topic, partition, first, last }: BuriedBatch): Promise<readonly ReceivedRecord[]> {
    const records: ReceivedRecord[] = [];
    const ranges = new Map([[partition, { from: first, to: last + 1 }]]);
    for await (const record of topicRecords(this.#broker, topic, { ranges })) records.push(record);
    return records;
  }

  #topicsOf({ topic }: RecordOffset): readonly string[] {
    return this.#topics.isTier(topic) ? [topic] : this.#topics.payments;
  }

  #publishedIn(topic: string): Promise<Set<string>> {
    const known = this.#published.get(topic) ?? this.#readPublished(topic);
    this.#published.set(topic, known);
    return known;
  }

  async #readPublished(topic: string): Promise<Set<string>> {
    const found = new Set<string>();
    await this.#broker.ensureTopics([topic]);
    for await (const record of topicRecords(this.#broker, topic)) {
      const replayOf = headerText(record, REPLAY_OF);
      if (replayOf !== undefined) found.add(replayOf);
    }
    return found;
  }
}

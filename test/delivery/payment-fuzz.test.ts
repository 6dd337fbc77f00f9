/**
 * Payment records of any kind, one after the other through the hand-out and the fan-out: each is acknowledged once, and
 * is accounted for: nothing was due, or each URL has its delivery, or it is a dead letter. Which records are payment events is
 * for test/payments. FUZZ_RECORDS sets how many, TEST_SEED makes them again.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { RecordPump } from '../../src/adapters/common/record-pump.js';
import type { AttemptRequest } from '../../src/delivery/attempt/attempt.js';
import { type DeadLetter, readDeadLetter } from '../../src/delivery/dead-letters.js';
import { type Delivery, foreignHeaders } from '../../src/delivery/delivery.js';
import { MAX_RECORD_BYTES } from '../../src/payments/payment-event.js';
import type { NewRecord, ReceivedRecord } from '../../src/ports/broker.js';
import type { DeliveryLogEntry } from '../../src/ports/log-entry.js';
import { SEED } from '../runner/seed.js';
import { inFull } from '../runner/thorough.js';
import { testScheduler } from '../support/clocks/test-scheduler.js';
import { VirtualClock } from '../support/clocks/virtual-clock.js';
import { ACCOUNT, DELIVERED, failedWith, GONE, INTERRUPTED, received } from '../support/generators/delivery-samples.js';
import { type EndpointAnswer, type FuzzedPayment, fuzzedPayment } from '../support/generators/fuzzed-payments.js';
import { DeliverFixture } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';
import { itemOf, laneOf } from '../support/scenes/pump-lane.js';

const RECORDS = Number(process.env.FUZZ_RECORDS ?? inFull(10_000, 2_000, 40_000));

const WEBHOOKS = [
  ...[webhookOf(1), webhookOf(2), webhookOf(3, { isActive: false })],
  webhookOf(4, { eventType: 'cash_out' }),
];
/** Those of ACCOUNT that are active, by type. */
const DUE: Readonly<Record<string, readonly number[]>> = { cash_in: [1, 2], cash_out: [4] };
const RESULTS = { delivered: DELIVERED, failed: failedWith(500), gone: GONE, interrupted: INTERRUPTED } as const;

test(`${RECORDS} records (TEST_SEED=${SEED}): none stops another, and none is unaccounted for`, async () => {
  const endings = { ignored: 0, 'not-valid': 0, delivered: 0, 'switched off': 0, retried: 0, deferred: 0 };
  const later = { delivered: 0, exhausted: 0 };
  const tried = async (given: FuzzedPayment) => {
    const { ended, waits } = await accountedFor(given);
    for (const ending of ended) endings[ending] += 1;
    // The places of attempts that failed are free again.
    await clock.goOn(1_000);
    for (const delivery of waits) later[await followed(delivery, given)] += 1;
  };
  const property = fc.asyncProperty(fuzzedPayment, (given) =>
    tried(given).catch((error: unknown) => {
      fixture = newFixture();
      throw error;
    }),
  );
  await fc.assert(property, { seed: SEED, numRuns: RECORDS });
  for (const count of [endings, later, deliveredAs].flatMap(Object.values)) expect(count).toBeGreaterThan(0);
});

type Ending = 'ignored' | 'not-valid' | 'delivered' | 'switched off' | 'retried' | 'deferred';

const NOTHING = Buffer.alloc(0);
/** How many were sent, by what they were. */
const deliveredAs = { plain: 0, structured: 0, binary: 0 };

/** The headers by which a receiver knows what the body is. */
function modeOf(content: AttemptRequest['content'], eventId: string): keyof typeof deliveredAs {
  if (!content) return 'plain';
  const { type, attributes } = content;
  for (const { key, value } of attributes) must(isHeader(key, value), 'it is no header');
  const ids = attributes.filter(({ key }) => key === 'ce-id').map(({ value }) => decodeURIComponent(value));
  if (ids.length === 0) return type.startsWith('application/cloudevents+json') ? 'structured' : 'plain';
  must(only(ids) === eventId, 'the id is not in the headers as it was');
  return 'binary';
}

function isHeader(key: string, value: string): boolean {
  return /^ce-[a-z0-9]+$/.test(key) && /^[!-~]*$/.test(value);
}

interface Accounted {
  /** Of the record, where nothing was due or it was not valid, else of each of its deliveries. */
  readonly ended: readonly Ending[];
  /** What waits in tiers. */
  readonly waits: readonly Delivery[];
}

async function accountedFor({ record, answers }: FuzzedPayment): Promise<Accounted> {
  const fixture = world((webhookId) => answers[webhookId % answers.length]);
  const given = received(record);
  const done = await acknowledged(given, (one) => fixture.fanOut(one));
  must(only(done) === given, 'another record is acknowledged');
  if (fixture.routed.length === 0) return { ended: [buried(fixture, record)], waits: [] };
  const { eventId, eventType, accountId, webhooks } = only(fixture.routed);
  const due = accountId === ACCOUNT ? (DUE[eventType] ?? []) : [];
  must(isDeepStrictEqual(webhooks, due), 'it was not routed to each URL');
  const { log } = fixture;
  must(isDeepStrictEqual(log.map(({ webhookId }) => webhookId).sort(), due), 'not one entry for each URL');
  must(fixture.requests.length === due.length, 'not one request for each URL');
  for (const { body, content } of fixture.requests) {
    isSame(body, record.value ?? NOTHING);
    deliveredAs[modeOf(content, eventId)] += 1;
  }
  if (due.length > 0) return accountedAs(fixture, log, record);
  must(fixture.broker.topics.join() === 'webhooks.deliveries', 'something else was written where nothing was due');
  return { ended: ['ignored'], waits: [] };
}

function accountedAs(fixture: DeliverFixture, log: readonly DeliveryLogEntry[], record: NewRecord): Accounted {
  const waits = fixture.waiting.map(({ delivery }) => delivery);
  for (const delivery of waits) mustKeepExtras(delivery.record, record);
  const letters = fixture.deadLetters.map((letter) => {
    isSame(letter.value, record.value);
    mustKeepExtras(letter, record);
    return readDeadLetter(letter);
  });
  return { ended: log.map((entry) => endingOf(entry, waits, letters)), waits };
}

/** One for all, as in a service: what it remembers of records before changes nothing here. A new one after a failure. */
let clock: VirtualClock;
let fixture = newFixture();

function newFixture(): DeliverFixture {
  clock = new VirtualClock();
  const made = new DeliverFixture({ scheduler: testScheduler({ clock }) });
  made.accounts.put(...WEBHOOKS);
  return made;
}

/** Webhooks that answer as they are asked to. */
function world(answerOf: (webhookId: number) => EndpointAnswer | undefined): DeliverFixture {
  fixture.forget();
  fixture.answer = ({ url }) => {
    const answer = answerOf(Number(url.slice(-1))) ?? 'delivered';
    if (answer === 'unprepared') throw new Error('the secrets can not be opened');
    return RESULTS[answer];
  };
  return fixture;
}

/** What is done in the end, as often as it is. @throws where the handler rejects it */
async function acknowledged(
  record: ReceivedRecord,
  handler: (record: ReceivedRecord) => Promise<void>,
): Promise<readonly ReceivedRecord[]> {
  const done: ReceivedRecord[] = [];
  await new Promise<void>((resolve, reject) => {
    const handle = (one: ReceivedRecord) => handler(one).catch(reject);
    const pump = new RecordPump({ inFlight: 10, onDone: () => resolve(pump.stop()) });
    pump.setLanes([laneOf([itemOf(record, handle)], (one) => void done.push(one))]);
  });
  return done;
}

function buried(fixture: DeliverFixture, record: NewRecord): 'not-valid' {
  must(fixture.requests.length === 0, 'what is not valid was sent');
  must(fixture.broker.topics.join() === 'webhooks.dead-letter', 'what is not valid is in other topics');
  const letter = only(fixture.deadLetters);
  const isLarge = recordBytes(record) > MAX_RECORD_BYTES;
  isSame(letter.value, isLarge ? null : record.value);
  if (isLarge) must(letter.key === null, 'it keeps its key');
  if (isLarge || hasManyHeaders(record)) must(foreignHeaders(letter).length === 0, 'it keeps more than it may have');
  else mustKeepExtras(letter, record);
  const { reason, detail, bytes } = readDeadLetter(letter);
  must(bytes === (isLarge ? recordBytes(record) : null), 'its size is missing or wrong');
  must(reason === 'not-valid' && Boolean(detail), 'the dead letter does not say why');
  return 'not-valid';
}

function endingOf(entry: DeliveryLogEntry, waits: readonly Delivery[], letters: readonly DeadLetter[]): Ending {
  const { id, outcome, attempt } = entry;
  const reasons = letters.filter(({ deliveryId }) => deliveryId === id).map(({ reason }) => reason);
  must(
    reasons.join() === (outcome === 'exhausted' ? 'deactivated' : ''),
    'its dead letters are not as they have to be',
  );
  const times = waits.filter((delivery) => delivery.id === id).length;
  must(times === (outcome === 'retrying' ? 1 : 0), 'what is tried again is not once in a tier');
  if (outcome === 'retrying') return attempt ? 'retried' : 'deferred';
  if (outcome === 'cancelled') throw new Error('nobody cancelled it');
  return outcome === 'exhausted' ? 'switched off' : outcome;
}

/** From tier to tier to its end: under the same id, with the bytes as they were published. */
async function followed(from: Delivery, { record, failures }: FuzzedPayment): Promise<'delivered' | 'exhausted'> {
  let delivery = from;
  for (let left = failures; ; left -= 1) {
    const fixture = world(() => (left > 0 ? 'failed' : 'delivered'));
    await fixture.deliver(delivery);
    const { id, body } = only(fixture.requests);
    must(id === from.id, 'another webhook-id');
    isSame(body, record.value ?? NOTHING);
    const { outcome } = only(fixture.log);
    if (outcome === 'retrying') delivery = only(fixture.waiting).delivery;
    else {
      must(outcome === (left > 0 ? 'exhausted' : 'delivered'), `it ended as ${outcome}`);
      if (outcome === 'exhausted') isSame(only(fixture.deadLetters).value, record.value);
      else must(fixture.deadLetters.length === 0, 'what was delivered is a dead letter');
      return left > 0 ? 'exhausted' : 'delivered';
    }
  }
}

function only<T>(all: readonly T[]): T {
  const [one] = all;
  if (one === undefined || all.length > 1) throw new Error(`there are ${all.length} where one was expected`);
  return one;
}

function recordBytes({ key, value, headers }: NewRecord): number {
  const texts = headers.flatMap(([name, bytes]) => [Buffer.from(name), bytes]);
  return Buffer.concat([key ?? NOTHING, value ?? NOTHING, ...texts]).length;
}

function hasManyHeaders({ headers }: NewRecord): boolean {
  const bytes = headers.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + value.length, 0);
  return headers.length > 1_000 || bytes > 64 * 1024;
}

function mustKeepExtras(kept: NewRecord, record: NewRecord): void {
  const headers = isDeepStrictEqual(foreignHeaders(kept), foreignHeaders(record));
  must(headers && isDeepStrictEqual(kept.key, record.key), 'key or headers of the payment are lost');
}

function isSame(one: Buffer | null, other: Buffer | null): void {
  must(one === other || (one !== null && other !== null && one.equals(other)), 'the bytes are not those published');
}

/** Not expect, which takes more time than all the rest. */
function must(isSo: boolean, problem: string): void {
  if (!isSo) throw new Error(problem);
}

/**
 * Random histories, payments and topics, coherent or not, against an oracle that looks everything up anew for each
 * event and webhook. COMPLETENESS_RUNS makes it longer.
 */
import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Report } from '../../src/audit/report.js';
import type { PaymentEvent } from '../../src/delivery/payment-event.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { OUTCOMES, type Outcome } from '../../src/ports/delivery-order.js';
import type { AccountEvent } from '../../src/webhooks/events.js';
import { type AccountWebhooks, evolve, NO_ACCOUNT } from '../../src/webhooks/state.js';
import { AuditFixture, delivery, TOPICS } from '../support/audit-fixture.js';
import { inFull } from '../support/thorough.js';
import { added } from '../support/webhook-samples.js';

const RUNS = Number(process.env.COMPLETENESS_RUNS ?? inFull(1_000, 200));
jest.setTimeout(20_000 + RUNS * 100);

const TIERS = ['5s', '30m'] as const;
const TYPES = ['cash_in', 'cash_out'] as const;

interface Change {
  readonly accountId: number;
  readonly event: AccountEvent;
  readonly time: number;
}

interface About {
  readonly event: PaymentEvent;
  readonly webhookId: number;
}

interface Entry extends About {
  readonly outcome: Outcome;
  readonly turn: number;
  readonly next: number;
  readonly partition: number;
  readonly at: number;
}

interface World {
  readonly changes: readonly Change[];
  readonly payments: readonly { event: PaymentEvent | null; at: number; partition: number; topic: number }[];
  readonly entries: readonly Entry[];
  readonly waits: readonly (About & { tier: string; due: number })[];
  readonly letters: readonly (About & { at: number })[];
  /** Which of the payment records that are no event have a dead letter. */
  readonly buried: readonly boolean[];
  readonly period: { from: number; to: number; account: number | null };
}

/** How long after its publication an event without a record may count as inactive, ms. */
const MAY_WAIT = 600_000;
/** Times are so far apart that some webhooks go within that of a payment, some at its very end and some after it. */
const STEP = MAY_WAIT / 3;

// Few of each, so that they meet.
const time = fc.nat(12).map((n) => n * STEP);
const accountId = fc.integer({ min: 1, max: 2 });
const webhookId = fc.integer({ min: 1, max: 3 });
const event = fc.record({ id: fc.constantFrom('a', 'b'), type: fc.constantFrom(...TYPES), accountId });
const about = { event, webhookId };
const many = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { maxLength, size: 'max' });

const change: fc.Arbitrary<Change> = fc
  .record({ accountId, webhookId, time, kind: fc.nat(3), noise: fc.integer({ min: -2, max: 0 }).map((n) => n * STEP) })
  .map(({ kind, noise, ...rest }) => ({ ...rest, event: changeOf(kind, rest.webhookId, iso(rest.time + noise)) }));

const world: fc.Arbitrary<World> = fc.record({
  // Mostly in the order of time, as clocks mostly are.
  changes: many(change, 10).map((all) => all.toSorted((one, other) => one.time - other.time)),
  payments: many(
    fc.record({ event: fc.option(event, { freq: 6 }), at: time, partition: fc.nat(1), topic: fc.nat(1) }),
    8,
  ),
  entries: many(
    fc.record({
      ...about,
      ...{ outcome: fc.constantFrom(...OUTCOMES), turn: fc.nat(2), next: time },
      ...{ partition: fc.nat(2), at: time },
    }),
    12,
  ),
  // Of two tiers with one due time, either may be told: in which order topics are read is nobody's promise.
  waits: fc.uniqueArray(fc.record({ ...about, tier: fc.constantFrom(...TIERS), due: time }), {
    ...{ maxLength: 6, size: 'max' },
    selector: ({ event: { id, accountId: account }, webhookId: webhook, due }) => `${account} ${id} ${webhook} ${due}`,
  }),
  letters: many(fc.record({ ...about, at: time }), 4),
  buried: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  period: fc.record({
    from: fc.nat(4).map((n) => n * STEP),
    to: fc.integer({ min: 4, max: 13 }).map((n) => n * STEP),
    account: fc.option(accountId, { freq: 3 }),
  }),
});

test('the report is what looking up each event and webhook by itself says', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const topics = new AuditFixture();
      const records = fill(topics, given);
      expect(told(await topics.audit(given.period))).toEqual(expected(given, records));
    }),
    { numRuns: RUNS },
  );
});

test('it is no matter in which order entries are read', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const [one, other] = [new AuditFixture(), new AuditFixture()];
      fill(one, given);
      fill(other, { ...given, entries: given.entries.toReversed() });
      expect(told(await other.audit(given.period))).toEqual(told(await one.audit(given.period)));
    }),
    { numRuns: RUNS },
  );
});

function iso(at: number): string {
  return new Date(at).toISOString();
}

function changeOf(kind: number, id: number, at: string): AccountEvent {
  if (kind === 0) return { type: 'WebhookRemoved', data: { webhookId: id, removedAt: at } };
  if (kind === 1) return { type: 'WebhookDeactivated', data: { webhookId: id, reason: '', deactivatedAt: at } };
  if (kind === 2) return { type: 'WebhookActivated', data: { webhookId: id, activatedAt: at } };
  return added(id, { createdAt: at, eventType: id === 3 ? 'cash_out' : 'cash_in' });
}

/** The payment records, in order. */
function fill(topics: AuditFixture, given: World): ReceivedRecord[] {
  for (const { accountId: id, event: one } of withoutTwins(given.changes)) topics.happened(id, one);
  const records = given.payments.map(({ event: one, at, partition, topic }) =>
    topics.published(one ?? 'nothing', { at, partition }, TOPICS.payments[topic]),
  );
  for (const { event: one, webhookId: id, outcome, turn, next, partition, at } of given.entries) {
    topics.logged({ ...delivery(one, id), turn }, outcome, outcome === 'retrying' ? next : null, { partition, at });
  }
  for (const { event: one, webhookId: id, tier, due } of given.waits) topics.waits(delivery(one, id), tier, due);
  for (const { event: one, webhookId: id, at } of given.letters) topics.exhausted(delivery(one, id), { at });
  records.forEach((record, index) => {
    if (!given.payments[index]?.event && given.buried[index]) topics.notValid(record);
  });
  return records;
}

/** A webhook is added once, or after it was removed. */
function withoutTwins(changes: readonly Change[]): readonly Change[] {
  return changes.filter(({ event: one, accountId: account }, index) => {
    if (one.type !== 'WebhookAdded') return true;
    const before = changes.slice(0, index).filter((other) => other.accountId === account);
    return !states(before)
      .at(-1)
      ?.webhooks.some(({ id }) => id === one.data.webhookId);
  });
}

function states(changes: readonly Change[]): AccountWebhooks[] {
  const all = [NO_ACCOUNT];
  for (const [index, { event: one }] of changes.entries()) {
    all.push(evolve(all.at(-1) ?? NO_ACCOUNT, { ...one, id: `event ${index}` }));
  }
  return all;
}

function told(report: Report) {
  const open = [...report.open()].map(({ eventId, accountId: account, webhookId: id, tier, nextAttemptAt }) =>
    [account, eventId, id, tier, nextAttemptAt].join(),
  );
  const unanswered = [...report.unanswered()].map(
    ({ source, accountId: account, eventId, webhookId: id }) => source ?? [account, eventId, id].join(),
  );
  return { counts: report.counts(), open: open.sort(), unanswered: unanswered.sort() };
}

function expected(given: World, records: readonly ReceivedRecord[]) {
  const { from, to, account } = given.period;
  const all = given.payments.map((payment, index) => ({ ...payment, index, record: records[index] }));
  const inPeriod = all.filter(({ at }) => at >= from && at < to);
  const valid = inPeriod.flatMap(({ event: one, at }) => (one ? [{ event: one, at }] : []));
  const events = valid.filter(({ event: one }) => account === null || one.accountId === account);
  // Records that are no event have no key here, so they are nobody's.
  const invalid = account === null ? inPeriod.filter(({ event: one }) => !one) : [];
  const unburied = invalid.filter(({ index }) => !given.buried[index]).map(({ record }) => record);
  const keys = [...new Set(events.map(({ event: one }) => keyOf(one)))];
  const perEvent = keys.map((key) =>
    deliveriesOf(
      given,
      events.filter(({ event: one }) => keyOf(one) === key),
    ),
  );
  const answers = perEvent.flat();
  const number = (kind: string) => answers.filter(({ answer }) => answer === kind).length;
  const waiting = answers.flatMap(({ answer, key }) => (typeof answer === 'string' ? [] : [{ ...answer, key }]));
  const tiers = TIERS.map((tier) => [tier, waiting.filter((one) => one.tier === tier).length] as const);
  const missing = answers.filter(({ answer }) => answer === 'unanswered').map(({ key }) => key);
  const places = unburied.map((record) => `${record?.topic}/${record?.partition}/${record?.offset}`);
  return {
    counts: {
      records: events.length + invalid.length,
      events: keys.length,
      invalid: invalid.length,
      unreadable: 0,
      notDue: perEvent.filter(({ length }) => length === 0).length,
      deliveries: answers.length,
      delivered: number('delivered'),
      exhausted: number('exhausted'),
      cancelled: number('cancelled'),
      inactive: number('inactive'),
      retrying: Object.fromEntries(tiers.filter(([, count]) => count > 0)),
      unanswered: missing.length + places.length,
    },
    open: waiting.map(({ key, tier, due }) => [key, tier, iso(due)].join()).sort(),
    unanswered: [...missing, ...places].sort(),
  };
}

function keyOf({ accountId: account, id }: PaymentEvent): string {
  return `${account},${id}`;
}

/** What became of one event, of which these are the records. */
function deliveriesOf(given: World, records: readonly { event: PaymentEvent; at: number }[]) {
  const [first] = records;
  if (!first) return [];
  const key = keyOf(first.event);
  return [1, 2, 3].flatMap((id) => {
    const isIt = (one: About) => keyOf(one.event) === key && one.webhookId === id;
    const due = records.map((record) => dueTo(given, record, id)).filter((one) => one !== 'not due');
    const entries = given.entries.filter(isIt);
    if (due.length === 0 && entries.length === 0) return [];
    const goneSoon = due.every((one) => one === 'gone soon');
    const waits = given.waits
      .filter(isIt)
      .toSorted((one, other) => one.due - other.due)
      .at(-1);
    const letter = given.letters
      .filter(isIt)
      .toSorted((one, other) => one.at - other.at)
      .at(-1);
    const answer = answerTo(lastOf(entries), waits ?? null, letter?.at ?? null, goneSoon);
    return [{ key: `${key},${id}`, answer }];
  });
}

function dueTo(given: World, { event: one, at }: { event: PaymentEvent; at: number }, id: number) {
  const own = withoutTwins(given.changes).filter((other) => other.accountId === one.accountId);
  const later = own.findIndex((other) => timeOf(other.event) > at);
  const all = states(own);
  const then = later === -1 ? all.length - 1 : later;
  const isActive = (state: AccountWebhooks | undefined) =>
    state?.webhooks.some((webhook) => webhook.id === id && webhook.isActive && webhook.eventType === one.type) ?? false;
  if (!isActive(all[then])) return 'not due';
  const gone = all.findIndex((state, index) => index > then && !isActive(state));
  if (gone === -1) return 'due';
  const goneAt = Math.max(...own.slice(0, gone).map((other) => timeOf(other.event)));
  return goneAt <= at + MAY_WAIT ? 'gone soon' : 'gone later';
}

function timeOf({ data }: AccountEvent): number {
  const [at = ''] = Object.entries(data).flatMap(([name, value]) => (name.endsWith('At') ? [value] : []));
  return Date.parse(at);
}

function lastOf(entries: readonly Entry[]): Entry | null {
  const narrowed = [
    (all: readonly Entry[]) => all.filter(({ outcome }) => outcome === 'delivered'),
    (all: readonly Entry[]) => all.filter(({ turn }) => turn === Math.max(...all.map((one) => one.turn))),
    (all: readonly Entry[]) => all.filter(({ outcome }) => outcome !== 'retrying'),
    (all: readonly Entry[]) => all.filter(({ at }) => at === Math.max(...all.map((one) => one.at))),
    (all: readonly Entry[]) => all.filter(({ outcome }) => outcome === 'exhausted'),
    (all: readonly Entry[]) => all.filter(({ next }) => next === Math.max(...all.map((one) => one.next))),
  ].reduce((left, narrow) => (narrow(left).length > 0 ? narrow(left) : left), entries);
  return narrowed[0] ?? null;
}

function answerTo(
  last: Entry | null,
  waits: { tier: string; due: number } | null,
  letter: number | null,
  goneSoon: boolean,
) {
  if (last?.outcome === 'delivered' || last?.outcome === 'cancelled') return last.outcome;
  if (last?.outcome === 'exhausted') return letter === null ? 'unanswered' : 'exhausted';
  if (last) return waits && waits.due >= last.next ? waits : 'unanswered';
  if (waits && waits.due >= (letter ?? 0)) return waits;
  if (letter !== null) return 'exhausted';
  return goneSoon ? 'inactive' : 'unanswered';
}

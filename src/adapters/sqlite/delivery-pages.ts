/** Pages of the deliveries view: newest first, over one webhook or all of an account's. */
import type {
  DeliveriesPage,
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryPlace,
  StatusClass,
} from '../../ports/deliveries-view.js';
import { PER_EVENT } from './deliveries-view-schema.js';
import {
  DELIVERED,
  deliveryOf,
  detailOf,
  HELD,
  outcomeOf,
  removed,
  STATES,
  type StoredDelivery,
} from './delivery-row.js';
import type { SqliteFile, SqliteStatement } from './open-file.js';
import { HASHED, hashOf, NO_PLACE } from './routed-events.js';
import type { WebhookHealths } from './webhook-health.js';

/** Rows that are read of a source at a time: 1, then twice as many each time. Most of many sources are left early. */
const MOST_AT_ONCE = 64;
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST: DeliveryPlace = { firstAt: Number.MAX_SAFE_INTEGER, id: '', payment: '' };
const SUCCEEDED = 2;

/** Of the account's webhooks, as far as known here. */
export type IsRemoved = (accountId: number, webhookId: number) => boolean;

/** Publications of an event: more than any producer makes while the schedule of the first one runs. */
const MOST_PUBLICATIONS = 1_000;

const PAYMENT = `iif(events.payment LIKE '${NO_PLACE}%', '', events.payment)`;
/** The order of deliveries: their indexes have all but the payment, which orders the publications of one ms. */
export const PLACE = `deliveries.first_at, id, ${PAYMENT}`;
const NEWEST_FIRST = `deliveries.first_at DESC, id DESC, ${PAYMENT} DESC`;
/** For SELECT, of deliveries that are joined with their events. */
export const DETAILED = `deliveries.*, event_id, event_type, event_source, routed_at, ${PAYMENT} AS payment`;
export const WITH_EVENT = `CROSS JOIN events ON events.row = deliveries.row / ${PER_EVENT}`;

export class DeliveryPages {
  readonly #sql: ReturnType<typeof statements>;
  readonly #health: WebhookHealths;
  readonly #isRemoved: IsRemoved;

  constructor(file: SqliteFile, health: WebhookHealths, isRemoved: IsRemoved) {
    this.#sql = statements(file);
    this.#health = health;
    this.#isRemoved = isRemoved;
  }

  /** @throws SyntaxError if the view is damaged */
  page(query: DeliveriesQuery): DeliveriesPage {
    const rows = this.#asOfNow(this.#rows(query));
    const { shown, next } = pageOf(rows, query.limit, (row) => isAskedFor(row, query), placeOf);
    return { deliveries: shown.map(deliveryOf), next, completeSince: null };
  }

  /** Those with the id, newest first. @throws SyntaxError if the view is damaged */
  withId(accountId: number, id: string): readonly DeliveryDetail[] {
    const rows = this.#sql.withId.all(hashOf(accountId, id), accountId, id, MOST_PUBLICATIONS) as StoredDelivery[];
    return [...this.#asOfNow(rows)].map((row) => {
      const responses = this.#sql.responses.all(row.row) as { readonly at: string; readonly response: string }[];
      return detailOf(row, new Map(responses.map(({ at, response }) => [at, response])));
    });
  }

  *#asOfNow(rows: Iterable<StoredDelivery>): Generator<StoredDelivery> {
    for (const row of rows) yield this.#isRemoved(row.account_id, row.webhook_id) ? removed(row) : row;
  }

  #rows(query: DeliveriesQuery): Iterable<StoredDelivery> {
    const { accountId, webhookId, eventId, eventType, from } = query;
    if (eventId === null) {
      const webhooks = webhookId === null ? this.#health.webhooks(accountId, eventType) : [webhookId];
      return merged(
        webhooks.flatMap((id) => this.#sources(id, query)),
        isNewer,
      );
    }
    const stored = JSON.stringify(eventId);
    const { firstAt, id, payment } = endOf(query);
    const bounds = [from ?? OLDEST, firstAt, id, payment];
    return this.#sql.ofEvent.iterate(
      hashOf(accountId, stored),
      accountId,
      stored,
      ...bounds,
    ) as Iterable<StoredDelivery>;
  }

  /** Of a webhook: all, or from the index that has the fewest others. */
  #sources(webhookId: number, query: DeliveriesQuery): readonly Iterator<StoredDelivery>[] {
    const answer = answerIn(query);
    const isByAnswer = answer !== null && answer !== SUCCEEDED && query.held !== true;
    if (isByAnswer) return [read(this.#sql.ofAnswer, [webhookId, answer], query)];
    const isRemoved = this.#isRemoved(query.accountId, webhookId);
    const states = STATES.filter((state) => isIn(isRemoved ? removed({ state }).state : state, query));
    if (states.includes(DELIVERED)) return [read(this.#sql.all, [webhookId], query)];
    return states.map((state) => read(this.#sql.ofState, [webhookId, state], query));
  }
}

function read(sql: SqliteStatement, key: readonly number[], query: DeliveriesQuery): Generator<StoredDelivery> {
  const { accountId, from } = query;
  return inChunks(endOf(query), (end, limit) => {
    const bounds = [from ?? OLDEST, end.firstAt, end.id, end.payment];
    return sql.all(accountId, ...key, ...bounds, limit) as StoredDelivery[];
  });
}

/** A statement can't be iterated for several webhooks at a time. @param rows behind the place */
export function* inChunks(
  begin: DeliveryPlace,
  rows: (place: DeliveryPlace, limit: number) => readonly StoredDelivery[],
): Generator<StoredDelivery> {
  let place = begin;
  for (let limit = 1; ; limit = Math.min(2 * limit, MOST_AT_ONCE)) {
    const found = rows(place, limit);
    yield* found;
    const last = found.at(-1);
    if (!last || found.length < limit) return;
    place = placeOf(last);
  }
}

/** @param isBefore in the order of the sources */
export function* merged(
  sources: readonly Iterator<StoredDelivery>[],
  isBefore: (one: StoredDelivery, other: StoredDelivery) => boolean,
): Generator<StoredDelivery> {
  const heads = sources.flatMap((source) => headOf(source));
  while (heads.length > 0) {
    const first = heads.reduce((one, other) => (isBefore(other.row, one.row) ? other : one));
    yield first.row;
    heads.splice(heads.indexOf(first), 1, ...headOf(first.source));
  }
}

function headOf(source: Iterator<StoredDelivery>) {
  const { value, done } = source.next();
  return done ? [] : [{ row: value as StoredDelivery, source }];
}

export function isNewer(one: StoredDelivery, other: StoredDelivery): boolean {
  if (one.first_at !== other.first_at) return one.first_at > other.first_at;
  return one.id === other.id ? one.payment > other.payment : one.id > other.id;
}

function isAskedFor(row: StoredDelivery, query: DeliveriesQuery): boolean {
  const { webhookId, eventType, errors } = query;
  if (webhookId !== null && row.webhook_id !== webhookId) return false;
  if (!isIn(row.state, query)) return false;
  if (eventType !== null && row.event_type !== eventType) return false;
  const answer = answerIn(query);
  if (answer !== null && row.answer !== answer) return false;
  return errors === null || errors.includes(row.error ?? '');
}

/** Of the last attempt; an error is no answer. */
function answerIn({ status, errors }: DeliveriesQuery): number | null {
  if (status === null) return errors === null ? null : answerOfClass('none');
  return answerOfClass(status);
}

function answerOfClass(status: StatusClass): number {
  return status === 'none' ? 0 : Number(status[0]);
}

function isIn(state: number, { outcome, held }: DeliveriesQuery): boolean {
  return (outcome === null || outcomeOf(state) === outcome) && (held === null || (state === HELD) === held);
}

export function placeOf({ first_at: firstAt, id, payment }: StoredDelivery): DeliveryPlace {
  return { firstAt, id, payment };
}

function endOf({ before, to }: DeliveriesQuery): DeliveryPlace {
  const end = before ?? NEWEST;
  return to !== null && to <= end.firstAt ? { ...NEWEST, firstAt: to } : end;
}

function statements(file: SqliteFile) {
  const ofWebhook = 'deliveries.account_id = ? AND webhook_id = ?';
  const inOrder = `deliveries.first_at >= ? AND (${PLACE}) < (?, ?, ?) ORDER BY ${NEWEST_FIRST}`;
  const select = `SELECT ${DETAILED} FROM deliveries ${WITH_EVENT} WHERE ${ofWebhook}`;
  return {
    all: file.prepare(`${select} AND ${inOrder} LIMIT +?`),
    ofState: file.prepare(`${select} AND state = ? AND state <> 0 AND ${inOrder} LIMIT +?`),
    ofAnswer: file.prepare(`${select} AND answer = ? AND answer <> 2 AND ${inOrder} LIMIT +?`),
    ofEvent: file.prepare(
      `SELECT ${DETAILED} FROM ${HASHED} CROSS JOIN events ON events.row = hashed.row / ${PER_EVENT}
       CROSS JOIN deliveries
         ON deliveries.row BETWEEN events.row * ${PER_EVENT} AND events.row * ${PER_EVENT} + ${PER_EVENT - 1}
       WHERE hashed.row % ${PER_EVENT} = 0 AND events.account_id = ? AND event_id = ? AND ${inOrder}`,
    ),
    withId: file.prepare(
      `SELECT ${DETAILED} FROM ${HASHED} CROSS JOIN deliveries ON deliveries.row = hashed.row ${WITH_EVENT}
       WHERE deliveries.account_id = ? AND id = ? ORDER BY ${NEWEST_FIRST} LIMIT +?`,
    ),
    responses: file.prepare('SELECT at, response FROM responses WHERE row = ?'),
  };
}

/** Rows that are not asked for, for one page. */
export const MOST_PASSED = 2_000;

/** next: the place of the last row that was read; null if none is left. */
export function pageOf<Row, Place>(
  rows: Iterable<Row>,
  limit: number,
  isAskedFor: (row: Row) => boolean,
  placeOf: (row: Row) => Place,
) {
  const shown: Row[] = [];
  let passed = 0;
  let last: Place | null = null;
  for (const row of rows) {
    const isShown = isAskedFor(row);
    if (passed === MOST_PASSED || (isShown && shown.length === limit)) return { shown, next: last };
    if (isShown) shown.push(row);
    else passed += 1;
    last = placeOf(row);
  }
  return { shown, next: null };
}

/** What all lists have in common: how a query's filters become SQL, and that a page looks at a bounded number of rows. */
import type { DeliveriesQuery, DeliveryPlace, EventsQuery } from '../../../ports/deliveries-view.js';
import { STATE } from './delivery-row.js';
import { escaped } from './schema.js';

/** The account that asks, as values of its statements. */
export interface Asking {
  readonly accountId: number;
  /** Its webhooks as JSON: every other one is removed. Null: they are not known. */
  readonly own: string | null;
  /** Since when the view has everything; null: nothing has left it but with its topic. */
  readonly completeSince: number | null;
}

/** Rows that a page looks at and does not show. */
const MOST_PASSED = 2_000;
/** Rows that are looked at for one event id or reference, which many payments may share: the newest. */
export const MOST_WITH_ID = 10_000;
const NO_VALUE = -1;
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** SQL. @param values the name of a JSON array */
export const isIn = (column: string, values: string) => `${column} IN (SELECT value FROM json_each(@${values}))`;

/** SQL: whether the webhook of a delivery is removed, as far as it is known. */
export const IS_REMOVED = `(@own IS NOT NULL AND NOT ${isIn('webhookId', 'own')})`;
/** SQL: after the removal of its webhook what waits has ended, before a dispatcher reports it. */
export const SHOWN_STATE = `iif(state = ${STATE.retrying} AND ${IS_REMOVED}, ${STATE.removed}, state)`;

/** SQL: of a payment without a known place there is none. */
export const PAYMENT = `iif(substr(payment, 1, 1) = '?', '', payment)`;

/** SQL: what holds of the rows that are asked for, by the names of their filters, of which null is any. */
export function filtered(filters: Readonly<Record<string, string>>): string {
  const all = Object.entries(filters).map(([name, condition]) => `(@${name} IS NULL OR ${condition})`);
  return all.join(' AND ');
}

/** Of a delivery: its last attempt. */
export const ANSWERED = { answer: 'status / 100 = @answer', errors: isIn('error', 'errors') };

/** Values of filters, and the place before which a page begins. */
export function valuesOf(
  query: Omit<DeliveriesQuery | EventsQuery, 'limit' | 'before'>,
  before: Partial<DeliveryPlace> | null,
) {
  const { eventType, eventId, status, errors, from, to } = query;
  const { firstAt = NEWEST, id = '', payment = '' } = before ?? {};
  const place = to !== null && to <= firstAt ? { firstAt: to, id: '', payment: '' } : { firstAt, id, payment };
  return {
    eventType,
    eventId: escaped(eventId),
    answer: status && (status === 'none' ? 0 : Number(status[0])),
    errors: errors && JSON.stringify(errors.map((error) => escaped(error))),
    from: from ?? OLDEST,
    most: place.firstAt,
    ...place,
  };
}

/** SQL: rows with one of some values, merged in their order: each value has its part of an index. */
export function merged(values: readonly number[], arm: (value: number) => string, order: string): string {
  return `${(values.length > 0 ? values : [NO_VALUE]).map(arm).join(' UNION ALL ')} ORDER BY ${order}`;
}

/** last: the last row that was looked at. more: there are rows behind it. */
export function pageOf<Row extends { readonly isShown: number }>(rows: Iterable<Row>, limit: number) {
  const shown: Row[] = [];
  let passed = 0;
  let last: Row | null = null;
  for (const row of rows) {
    if (passed === MOST_PASSED || (row.isShown && shown.length === limit)) return { shown, last, more: true };
    if (row.isShown) shown.push(row);
    else passed += 1;
    last = row;
  }
  return { shown, last, more: false };
}

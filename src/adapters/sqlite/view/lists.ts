/** What all lists have in common: filters as SQL, the indexes that rows come from, pages that look at some rows only. */
import type { DeliveriesQuery, DeliveryPlace, EventsQuery } from '../../../ports/deliveries-view.js';
import { STATE } from './delivery-row.js';
import { escaped, rowsWith } from './schema.js';

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
const MOST_WITH_TEXT = 10_000;
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** SQL. @param values the name of a JSON array */
export const isIn = (column: string, values: string) => `${column} IN (SELECT value FROM json_each(@${values}))`;

/** SQL: whether the webhook of a delivery is removed, as far as it is known. */
export const IS_REMOVED = `(@own IS NOT NULL AND NOT ${isIn('webhookId', 'own')})`;
/** SQL: after the removal of its webhook what waits has ended, before a dispatcher reports it. */
export const SHOWN_STATE = `iif(state = ${STATE.retrying} AND ${IS_REMOVED}, ${STATE.removed}, state)`;

/** SQL: what holds of the rows that are asked for, by the names of their filters, of which null is any. */
export function filtered(filters: Readonly<Record<string, string>>): string {
  const all = Object.entries(filters).map(([name, condition]) => `(@${name} IS NULL OR ${condition})`);
  return all.join(' AND ');
}

/** Of a delivery: its last attempt. */
export const ANSWERED = { answer: 'status / 100 = @answer', errors: isIn('error', 'errors') };

type Filters = Omit<DeliveriesQuery | EventsQuery, 'limit' | 'before'> & { readonly reference?: string | null };

/** Values of filters, and of the place before which a page begins. */
export function valuesOf(
  { eventId, reference = null, status, errors, from, to, ...query }: Filters,
  { firstAt = NEWEST, payment = '', id = '' }: Partial<DeliveryPlace>,
) {
  const place = to !== null && to <= firstAt ? { firstAt: to, payment: '', id: '' } : { firstAt, payment, id };
  return listed({
    ...query,
    eventId: escaped(eventId),
    reference: escaped(reference),
    answer: status && (status === 'none' ? 0 : Number(status[0])),
    errors: errors?.map((error) => escaped(error)) ?? null,
    from: from ?? OLDEST,
    most: place.firstAt,
    ...place,
  });
}

/** Values of a statement, with their lists as JSON. */
export function listed(values: object): Readonly<Record<string, unknown>> {
  const all = Object.entries(values);
  return Object.fromEntries(all.map(([name, value]) => [name, Array.isArray(value) ? JSON.stringify(value) : value]));
}

/** SQL: where rows of a list come from. */
export interface Source {
  readonly from: string;
  readonly where: string;
  /** The index that they come from has the times of this one. */
  readonly times?: 'deliveries';
}

export const OF_ACCOUNT: Source = { from: 'events', where: 'events.accountId = @accountId' };

/** Events with the text that is asked for. */
export function eventsWith(column: 'eventId' | 'reference'): Source {
  const found = rowsWith('events', column, MOST_WITH_TEXT);
  return { from: `${found} CROSS JOIN events ON events.row = found`, where: 'TRUE' };
}

interface Which {
  /** What tells apart rows of one ms: expressions, by their names in a place. */
  readonly ties: Readonly<Record<string, string>>;
  /** An expression. */
  readonly isShown: string;
  /** Whether the list goes to older or newer rows. */
  readonly is: '<' | '>';
}

/**
 * SQL: the rows of some sources behind a place, merged in their order, which SQLite sorts by what ties of one ms. @from and
 * @most are bounds of the time, for the range of an index.
 */
export function list(row: string, sources: readonly Source[], { ties, isShown, is }: Which): string {
  const names = ['firstAt', ...Object.keys(ties)];
  const arms = sources.map(({ from, where, times = 'events' }) => {
    const parts = [`${times}.firstAt`, ...Object.values(ties)];
    const columns = parts.map((part, n) => `${part} AS ${names[n]}`);
    return `SELECT ${row} AS row, ${columns.join()}, ${isShown} AS isShown FROM ${from}
      WHERE ${where} AND ${times}.firstAt >= @from AND ${times}.firstAt <= @most
        AND (${parts.join()}) ${is} (${names.map((name) => `@${name}`).join()})`;
  });
  const order = names.map((name) => `${name} ${is === '<' ? 'DESC' : 'ASC'}`);
  return `${arms.join(' UNION ALL ')} ORDER BY ${order.join()}`;
}

/** A row that was looked at: where it is, and whether it is asked for. What else it has is its place in the list. */
export type Candidate<Place> = Place & { readonly row: number; readonly isShown: number };

/** reached: the place of the last row that was looked at. more: there are rows behind it. */
export function pageOf<Place>(rows: Iterable<Candidate<Place>>, limit: number) {
  const shown: Candidate<Place>[] = [];
  let passed = 0;
  let last: Candidate<Place> | null = null;
  for (const row of rows) {
    if (passed === MOST_PASSED || (row.isShown && shown.length === limit)) {
      return { shown, reached: last && placeOf<Place>(last), more: true };
    }
    if (row.isShown) shown.push(row);
    else passed += 1;
    last = row;
  }
  return { shown, reached: last && placeOf<Place>(last), more: false };
}

export function placeOf<Place>({ row, isShown, ...place }: Candidate<Place>): Place {
  return place as unknown as Place;
}

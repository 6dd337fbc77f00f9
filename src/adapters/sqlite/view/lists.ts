/** What all lists have in common: filters as SQL, the indexes that rows come from, pages that look at some rows only. */
import type { DeliveriesQuery, DeliveryPlace, EventsQuery } from '../../../ports/deliveries-view.js';
import { STATE } from './delivery-row.js';
import { escaped, rowsWith } from './schema.js';

/** The account that asks, as values of its statements. */
export interface Asking {
  readonly accountId: number;
  /** Its webhooks: every other one is removed. Null: they are not known. */
  readonly own: readonly number[] | null;
  /** Since when the view has everything; null: nothing has left it but with its topic. */
  readonly completeSince: number | null;
}

/** Rows that a page looks at and does not show. */
const MOST_PASSED = 2_000;
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** SQL. @param values the name of a list */
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
export function valuesOf({ to, ...query }: Filters, before: Partial<DeliveryPlace> | null) {
  const { firstAt = NEWEST, payment = '', id = '' } = before ?? {};
  const { status, reference = null } = query;
  return {
    ...query,
    eventId: escaped(query.eventId),
    reference: escaped(reference),
    answer: status && (status === 'none' ? 0 : Number(status[0])),
    errors: query.errors?.map(escaped) ?? null,
    from: query.from ?? OLDEST,
    ...(to !== null && to <= firstAt ? { firstAt: to, payment: '', id: '' } : { firstAt, payment, id }),
  };
}

/** SQL: where rows of a list come from, and the time that is in its index. */
export interface Source {
  readonly from: string;
  readonly where: string;
  readonly time: 'events.firstAt' | 'deliveries.firstAt';
}

export const OF_ACCOUNT: Source = {
  from: 'events',
  where: 'events.accountId = @accountId',
  time: 'events.firstAt',
};

/** Events with the text that is asked for. */
export function eventsWith(column: 'eventId' | 'reference'): Source {
  const found = rowsWith('events', column);
  return { ...OF_ACCOUNT, from: `${found} CROSS JOIN events ON events.row = found` };
}

interface Which {
  /** What tells apart payments of one ms and place: its name in a place, and an expression. */
  readonly tie?: readonly [name: string, expression: string];
  /** An expression. */
  readonly isShown: string;
  /** Whether the list goes to older or newer rows. */
  readonly is: '<' | '>';
}

/** SQL: the rows of some sources behind a place, merged in their order, which SQLite sorts by what ties of one ms. */
export function list(row: string, sources: readonly Source[], { tie, isShown, is }: Which): string {
  const names = ['firstAt', 'payment', ...(tie ? [tie[0]] : [])];
  const arms = sources.map(({ from, where, time }) => {
    const parts = [time, 'payment', ...(tie ? [tie[1]] : [])];
    return `SELECT ${row} AS row, ${parts.map((part, n) => `${part} AS ${names[n]}`).join()}, ${isShown} AS isShown
      FROM ${from} WHERE ${where} AND ${time} ${is === '<' ? '>= @from' : '< @until'}
        AND (${parts.join()}) ${is} (${names.map((name) => `@${name}`).join()})`;
  });
  return `${arms.join(' UNION ALL ')} ORDER BY ${names.map((name) => `${name} ${is === '<' ? 'DESC' : 'ASC'}`).join()}`;
}

/** A row that was looked at: where it is, and whether it is asked for. */
export type Looked<Place> = Place & { readonly row: number; readonly isShown: number };

/** @returns the rows to show, and the last one that was looked at, behind which there may be `more` */
export function pageOf<Row extends { readonly isShown: number }>(rows: Iterable<Row>, limit: number) {
  const shown: Row[] = [];
  let [passed, last] = [0, null as Row | null];
  for (const row of rows) {
    if (passed === MOST_PASSED || (row.isShown && shown.length === limit)) return { shown, last, more: true };
    if (row.isShown) shown.push(row);
    else passed += 1;
    last = row;
  }
  return { shown, last, more: false };
}

export function placeOf<Place>({ row, isShown, ...place }: Looked<Place>): Place {
  return place as unknown as Place;
}

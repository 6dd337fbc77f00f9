/** What all lists have in common: filters as SQL, the indexes that rows come from, pages that look at some rows only. */
import type { DeliveriesQuery, EventsQuery, ListPlace } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
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

/** Rows that a page looks at and does not show: 2,000 with the 200 that it may show. */
const MOST_PASSED = 1_800;
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST: ListPlace = { firstAt: Number.MAX_SAFE_INTEGER, payment: '', tie: '' };

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
/** Nothing that came at once is asked for. */
export const isOfFailed = ({ status, errors }: Pick<Filters, 'status' | 'errors'>) =>
  errors !== null || (status !== null && status !== '2xx');

type Filters = Omit<DeliveriesQuery | EventsQuery, 'limit' | 'before'> & { readonly reference?: string | null };

/** Values of filters, and of the place before which a page begins. */
export function valuesOf({ to, ...query }: Filters, before: ListPlace | null) {
  const place = before ?? NEWEST;
  const { status, reference = null } = query;
  return {
    ...query,
    eventId: escaped(query.eventId),
    reference: escaped(reference),
    answer: status && (status === 'none' ? 0 : Number(status[0])),
    errors: query.errors?.map(escaped) ?? null,
    from: query.from ?? OLDEST,
    ...placeOf(to !== null && to <= place.firstAt ? { ...NEWEST, firstAt: to } : place),
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

export interface List {
  /** The expression of its row. */
  readonly row: 'events.row' | 'deliveries.row';
  readonly sources: readonly Source[];
  /** An expression (ListPlace). */
  readonly tie: string;
  /** An expression. */
  readonly isShown: string;
  /** Whether the list goes to older or newer rows. */
  readonly is: '<' | '>';
}

/** A page of a list behind the place that is in its values. */
export function listed(sql: Statements, list: List, values: Readonly<Record<string, unknown>>, limit: number) {
  const { shown, last, more } = pageOf(sql.each<Looked>(textOf(list), values), limit);
  return { shown, next: last && more ? placeOf(last) : null };
}

/** A row that was looked at: where it is, and whether it is asked for. */
type Looked = ListPlace & { readonly row: number; readonly isShown: number };

export function placeOf({ firstAt, payment, tie }: ListPlace): ListPlace {
  return { firstAt, payment, tie };
}

/** SQL: the rows of some sources behind a place, merged in their order, which SQLite sorts by what ties of one ms. */
function textOf({ row, sources, tie, isShown, is }: List): string {
  const [bound, order] = is === '<' ? ['>= @from', 'DESC'] : ['< @until', 'ASC'];
  const arms = sources.map(
    ({ from, where, time }) => `
    SELECT ${row} AS row, ${time} AS firstAt, payment, ${tie} AS tie, ${isShown} AS isShown FROM ${from}
    WHERE ${where} AND ${time} ${bound} AND (${time}, payment, ${tie}) ${is} (@firstAt, @payment, @tie)`,
  );
  return `${arms.join(' UNION ALL ')} ORDER BY firstAt ${order}, payment ${order}, tie ${order}`;
}

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

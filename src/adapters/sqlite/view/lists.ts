/** What all lists have in common: filters as SQL, the indexes that rows come from, and the order of their rows. */
import type {
  DeliveriesQuery,
  EventsQuery,
  ListPlace,
  RecoverableCount,
  Steps,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { STATE } from './delivery-row.js';
import { escaped, offsetIn } from './schema.js';
import { eachShown, pageOf } from './steps.js';

/** The account that asks, as values of its statements. */
export interface Asking {
  readonly accountId: number;
  /** Its webhooks: every other one is removed. Null: they are not known. */
  readonly own: readonly number[] | null;
  /** Since when the view has everything; null: nothing has left it but with its topic. */
  readonly completeSince: number | null;
}

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

/**
 * SQL: where rows of a list come from. Each is examined, so an index has to serve `where` alone; whatever else a filter asks
 * for is in isShown. SQLite refuses a statement that cannot use the index that it names.
 */
export interface Source {
  readonly from: string;
  readonly where: string;
  /** The table whose index has the order. */
  readonly by: 'events' | 'deliveries';
}

export const OF_ACCOUNT: Source = {
  from: 'events INDEXED BY eventsInOrder',
  where: 'events.accountId = @accountId',
  by: 'events',
};

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

/** A row that was examined: its place, and whether it is asked for. */
type ExaminedRow = ListPlace & { readonly row: number; readonly isShown: number };
type Values = ListPlace & Readonly<Record<string, unknown>>;

/** A page of a list behind the place that is in its values. */
export function* listed<Shown>(
  sql: Statements,
  list: List,
  values: Values,
  limit: number,
  view: (row: ExaminedRow) => Shown,
): Steps<{ readonly shown: readonly Shown[]; readonly next: ListPlace | null }> {
  const { shown, last, more } = yield* pageOf(rowsOf(sql, list, values), limit, view);
  return { shown, next: last && more ? placeOf(last) : null };
}

/** How many rows some lists have, and the times of the first and the last. @param each the values of one list */
export function* counted(sql: Statements, list: List, each: readonly Values[]): Steps<RecoverableCount> {
  let [count, oldest, newest] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const values of each) {
    yield* eachShown(rowsOf(sql, list, values), (rows) => {
      count += rows.length;
      oldest = Math.min(oldest, ...rows.map(({ firstAt }) => firstAt));
      newest = Math.max(newest, ...rows.map(({ firstAt }) => firstAt));
    });
    yield;
  }
  return count === 0 ? { count, oldest: null, newest: null } : { count, oldest, newest };
}

export function placeOf({ firstAt, payment, tie }: ListPlace): ListPlace {
  return { firstAt, payment, tie };
}

function rowsOf(sql: Statements, list: List, values: Values): (last: ListPlace | null) => Iterable<ExaminedRow> {
  const text = textOf(list);
  return (last) => {
    const place = placeOf(last ?? values);
    return sql.each<ExaminedRow>(text, { ...values, ...place, paymentOffset: offsetIn(place.payment) });
  };
}

/** SQL: the rows of some sources behind a place, merged in their order. */
function textOf({ row, sources, tie, isShown, is }: List): string {
  const [bound, order] = is === '<' ? ['>= @from', 'DESC'] : ['< @until', 'ASC'];
  const arms = sources.map(({ from, where, by }) => {
    const place = `${by}.firstAt, ${by}.paymentOffset, payment, ${tie}`;
    return `
    SELECT ${row} AS row, ${by}.firstAt AS firstAt, ${by}.paymentOffset AS paymentOffset, payment, ${tie} AS tie,
      ${isShown} AS isShown FROM ${from}
    WHERE ${where} AND ${by}.firstAt ${bound} AND (${place}) ${is} (@firstAt, @paymentOffset, @payment, @tie)`;
  });
  const places = ['firstAt', 'paymentOffset', 'payment', 'tie'].map((name) => `${name} ${order}`);
  return `${arms.join(' UNION ALL ')} ORDER BY ${places.join()}`;
}

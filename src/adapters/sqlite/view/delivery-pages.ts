/** Pages of deliveries: newest first, over one webhook or all of an account's. */
import type {
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryPlace,
  StatusClass,
  ViewedDelivery,
} from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { parsed } from './attempt-row.js';
import { MOST_WITH_ID, NEWEST, OLDEST, pageOf } from './bounded-page.js';
import { outcomeOf, STATE, STATES } from './delivery-row.js';
import { blocksOf, type Columns, idStart } from './schema.js';
import { type IsRemoved, PAYMENT, ShownDeliveries, shownState, WITH_EVENT } from './shown-delivery.js';

/** What a page looks at. */
export type DeliveryCandidate = Columns<
  'row' | 'webhook_id' | 'state' | 'answer' | 'first_at',
  'id' | 'payment' | 'event_type',
  'error'
>;

type Query = Omit<DeliveriesQuery, 'accountId'>;

/** Publications of an event: more than any producer makes while the schedule of the first one runs. */
const MOST_PUBLICATIONS = 1_000;

export class DeliveryPages {
  readonly #sql: ReturnType<typeof statements>;
  readonly #shown: ShownDeliveries;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
    this.#shown = new ShownDeliveries(file);
  }

  /** @throws SyntaxError if the view is damaged */
  page(accountId: number, query: Query, isRemoved: IsRemoved) {
    const rows = this.#rows(accountId, query);
    const { shown, next } = pageOf(rows, query.limit, (row) => isAskedFor(row, query, isRemoved));
    const deliveries = shown.map(({ row }): ViewedDelivery => this.#shown.viewed(row, isRemoved));
    return { deliveries, next: next && placeOf(next) };
  }

  /** Those with the id, newest first. @throws SyntaxError if the view is damaged */
  withId(accountId: number, id: string, isRemoved: IsRemoved): readonly DeliveryDetail[] {
    const rows = this.#sql.withId.all({ accountId, id }) as DeliveryCandidate[];
    return rows.map(({ row }) => this.#shown.detail(row, isRemoved));
  }

  #rows(accountId: number, query: Query): Iterable<DeliveryCandidate> {
    const { webhookId, eventId, from } = query;
    const asked = { accountId, from: from ?? OLDEST, ...endOf(query) };
    if (eventId !== null) {
      return this.#read('ofEvent', { ...asked, eventId: JSON.stringify(eventId) });
    }
    const states = statesFor(query);
    if (webhookId !== null) return this.#read('ofWebhook', { ...asked, webhookId, ...arms(states) });
    return states.includes(STATE.delivered)
      ? this.#read('ofEvents', asked)
      : this.#read('inTrouble', { ...asked, ...arms(states) });
  }

  #read(by: 'ofWebhook' | 'ofEvents' | 'inTrouble' | 'ofEvent', asked: object): Iterable<DeliveryCandidate> {
    return this.#sql[by].iterate(asked) as Iterable<DeliveryCandidate>;
  }
}

/** For inStates: an arm of a state that is not asked for has nothing. */
export function arms(states: readonly number[]): Readonly<Record<string, number | null>> {
  return Object.fromEntries(STATES.map((state) => [`state${state}`, states.includes(state) ? state : null]));
}

/**
 * SQL: deliveries of some states, merged in their order; each state has its part of an index.
 * The index has the beginning of ids, and SQLite sorts by what else there is within one ms. @from and @most are bounds of
 * first_at, for the range of the index; the place is compared in it.
 */
export function inStates(where: string, is: '<' | '>', of: readonly number[] = STATES): string {
  const order = is === '<' ? 'DESC' : 'ASC';
  const place = `(deliveries.first_at, ${idStart('id')}, id, ${PAYMENT})`;
  const arm = (state: number) => `
    SELECT ${CANDIDATE} FROM deliveries ${WITH_EVENT}
    WHERE deliveries.account_id = @accountId ${where} AND state = @state${state} AND deliveries.first_at >= @from
      AND deliveries.first_at <= @most AND ${place} ${is} (@firstAt, ${idStart('@id')}, @id, @payment)`;
  return `${of.map(arm).join(' UNION ALL ')}
    ORDER BY first_at ${order}, id_start ${order}, id ${order}, payment ${order}`;
}

export function placeOf({ first_at: firstAt, id, payment }: Omit<DeliveryPlace, 'firstAt'> & { first_at: number }) {
  return { firstAt, id, payment };
}

const IN_TROUBLE = STATES.filter((state) => state !== STATE.delivered);

const CANDIDATE = `deliveries.row AS row, webhook_id, state, answer, error, deliveries.first_at AS first_at,
  ${idStart('id')} AS id_start, id, ${PAYMENT} AS payment, event_type`;

function isAskedFor(row: DeliveryCandidate, query: Query, isRemoved: IsRemoved): boolean {
  const { webhookId, eventType } = query;
  if (webhookId !== null && row.webhook_id !== webhookId) return false;
  if (!isIn(shownState(row.state, isRemoved(row.webhook_id)), query)) return false;
  return (eventType === null || row.event_type === eventType) && isAnswered(row, query);
}

/** Whether the last attempt has the status and one of the errors; an error is no answer. */
export function isAnswered(
  { answer, error }: Pick<DeliveryCandidate, 'answer' | 'error'>,
  { status, errors }: { readonly status: StatusClass | null; readonly errors: readonly string[] | null },
): boolean {
  if (status !== null && answer !== (status === 'none' ? 0 : Number(status[0]))) return false;
  return errors === null || (error !== null && errors.includes(parsed(error) ?? ''));
}

/** Those that may be asked for; what waits for a removed webhook is cancelled. */
function statesFor(query: Query): readonly number[] {
  const isFailed = query.errors !== null || (query.status !== null && query.status !== '2xx');
  const mayBeIn = (state: number) => isIn(state, query) || (state === STATE.retrying && isIn(STATE.removed, query));
  return STATES.filter((state) => mayBeIn(state) && !(isFailed && state === STATE.delivered));
}

function isIn(state: number, { outcome, held }: Pick<Query, 'outcome' | 'held'>): boolean {
  return (outcome === null || outcomeOf(state) === outcome) && (held === null || (state === STATE.held) === held);
}

function endOf({ before, to }: Query) {
  const { firstAt, id, payment } = before ?? { firstAt: NEWEST, id: '', payment: '' };
  const isBefore = to !== null && to <= firstAt;
  const end = isBefore ? { firstAt: to, id: '', payment: '' } : { firstAt, id, payment };
  return { ...end, most: end.firstAt };
}

function statements(file: SqliteFile) {
  const newestFirst = 'ORDER BY first_at DESC, id DESC, payment DESC';
  return {
    inTrouble: file.prepare(inStates('AND state <> 0', '<', IN_TROUBLE)),
    ofEvents: file.prepare(
      `SELECT ${CANDIDATE} FROM events CROSS JOIN deliveries ON deliveries.event = events.row
       WHERE events.account_id = @accountId AND events.first_at >= @from AND events.first_at <= @most
         AND (events.first_at, id, ${PAYMENT}) < (@firstAt, @id, @payment) ORDER BY events.first_at DESC, id DESC, payment DESC`,
    ),
    ofWebhook: file.prepare(inStates('AND webhook_id = @webhookId', '<')),
    ofEvent: file.prepare(
      `SELECT * FROM (
         SELECT ${CANDIDATE} FROM ${blocksOf('events')}
         CROSS JOIN events ON events.row >> 13 = blocks.n AND events.account_id = @accountId AND event_id = @eventId
         CROSS JOIN deliveries ON deliveries.event = events.row
         LIMIT ${MOST_WITH_ID}
       ) WHERE first_at >= @from AND (first_at, id, payment) < (@firstAt, @id, @payment) ${newestFirst}`,
    ),
    withId: file.prepare(
      `SELECT ${CANDIDATE} FROM ${blocksOf('deliveries')}
       CROSS JOIN deliveries ON deliveries.row >> 13 = blocks.n AND ${idStart('id')} = ${idStart('@id')} AND id = @id
       ${WITH_EVENT} WHERE deliveries.account_id = @accountId ${newestFirst} LIMIT ${MOST_PUBLICATIONS}`,
    ),
  };
}

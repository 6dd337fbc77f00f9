/** Pages of the deliveries view: newest first, over one webhook or all of an account's. */
import { crc32 } from 'node:zlib';
import type { DeliveriesPage, DeliveriesQuery, DeliveryPlace, StatusClass } from '../../ports/deliveries-view.js';
import type { viewStatements } from './deliveries-view-sql.js';
import { attemptsOf, type DeliveryRow, deliveryOf } from './delivery-row.js';

type Statements = Pick<ReturnType<typeof viewStatements>, 'all' | 'ofOutcome' | 'ofEvent' | 'nextWebhook'>;

/** Deliveries that are not asked for, for one page: it takes some 20 ms then, over 100 webhooks. */
const MOST_PASSED = 2_000;
/** Rows that are read of a webhook at a time, after the first. */
const CHUNK = 32;
/** Before and after every delivery. */
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST: DeliveryPlace = { firstAt: Number.MAX_SAFE_INTEGER, id: '' };

/** @throws SyntaxError if the view is damaged */
export function pageOf(sql: Statements, query: DeliveriesQuery): DeliveriesPage {
  const shown: DeliveryRow[] = [];
  const page = (next: DeliveryPlace | null) => ({ deliveries: shown.map(deliveryOf), next });
  let passed = 0;
  let last: DeliveryPlace | null = null;
  for (const row of rowsOf(sql, query)) {
    const isShown = isAskedFor(row, query);
    if (passed === MOST_PASSED || (isShown && shown.length === query.limit)) return page(last);
    if (isShown) shown.push(row);
    else passed += 1;
    last = placeOf(row);
  }
  return page(null);
}

/** Of an event of the account: the same for few others. @param eventId as it is stored */
export function hashOfEvent(accountId: number, eventId: string): number {
  return crc32(`${accountId} ${eventId}`);
}

function rowsOf(sql: Statements, query: DeliveriesQuery): Iterable<DeliveryRow> {
  const { accountId, webhookId, eventId, from } = query;
  if (eventId === null) {
    const webhooks = webhookId === null ? webhooksOf(sql, accountId) : [webhookId];
    return merged(webhooks.map((id) => rowsOfWebhook(sql, id, query)));
  }
  const stored = JSON.stringify(eventId);
  const { firstAt, id } = endOf(query);
  const hash = hashOfEvent(accountId, stored);
  return sql.ofEvent.iterate(hash, accountId, stored, from ?? OLDEST, firstAt, id) as IterableIterator<DeliveryRow>;
}

function webhooksOf({ nextWebhook }: Statements, accountId: number): readonly number[] {
  const found: number[] = [];
  for (let id: number | null = OLDEST; ; found.push(id)) {
    id = nextWebhook.get(accountId, id) as number | null;
    if (id === null) return found;
  }
}

/** In chunks: a statement can't be iterated for several webhooks at a time. */
function* rowsOfWebhook(sql: Statements, webhookId: number, query: DeliveriesQuery): Generator<DeliveryRow> {
  const { accountId, outcome, from } = query;
  const isRare = outcome !== null && outcome !== 'delivered';
  let end = endOf(query);
  for (let limit = 1; ; limit = CHUNK) {
    const bounds = [from ?? OLDEST, end.firstAt, end.id, limit];
    const rows = isRare
      ? sql.ofOutcome.all(accountId, webhookId, outcome, ...bounds)
      : sql.all.all(accountId, webhookId, ...bounds);
    yield* rows as DeliveryRow[];
    const last = rows.at(-1) as DeliveryRow | undefined;
    if (!last || rows.length < limit) return;
    end = placeOf(last);
  }
}

function* merged(sources: readonly Iterator<DeliveryRow>[]): Generator<DeliveryRow> {
  const heads = sources.flatMap((source) => headOf(source));
  while (heads.length > 0) {
    const newest = heads.reduce((one, other) => (isNewer(other.row, one.row) ? other : one));
    yield newest.row;
    heads.splice(heads.indexOf(newest), 1, ...headOf(newest.source));
  }
}

function headOf(source: Iterator<DeliveryRow>) {
  const { value, done } = source.next();
  return done ? [] : [{ row: value as DeliveryRow, source }];
}

function isNewer(one: DeliveryRow, other: DeliveryRow): boolean {
  return one.first_at > other.first_at || (one.first_at === other.first_at && one.id > other.id);
}

function isAskedFor(row: DeliveryRow, { webhookId, outcome, eventType, status, errors }: DeliveriesQuery): boolean {
  if (webhookId !== null && row.webhook_id !== webhookId) return false;
  if (outcome !== null && row.outcome !== outcome) return false;
  if (eventType !== null && row.event_type !== eventType) return false;
  if (status === null && errors === null) return true;
  const last = attemptsOf(row).at(-1);
  if (status !== null && classOf(last?.status ?? null) !== status) return false;
  return errors === null || errors.includes(last?.error ?? '');
}

function classOf(status: number | null): StatusClass | null {
  return status === null ? 'none' : (`${Math.floor(status / 100)}xx` as StatusClass);
}

function placeOf({ first_at: firstAt, id }: DeliveryRow): DeliveryPlace {
  return { firstAt, id };
}

function endOf({ before, to }: DeliveriesQuery): DeliveryPlace {
  const [one, other] = [before ?? NEWEST, to === null ? NEWEST : { firstAt: to, id: '' }];
  return one.firstAt < other.firstAt || (one.firstAt === other.firstAt && one.id < other.id) ? one : other;
}

/** Deliveries of a webhook that can be sent again, and what became of those that were. */
import type {
  DeliveryDetail,
  DeliveryPlace,
  Recoverable,
  RecoverableCount,
  RecoverableQuery,
  RecoveryProgress,
} from '../../ports/deliveries-view.js';
import { DETAILED, isNewer, PLACE, WITH_EVENT } from './delivery-pages.js';
import {
  CANCELLED,
  DELIVERED,
  detailOf,
  EXHAUSTED,
  HELD,
  REMOVED,
  RETRYING,
  type StoredDelivery,
} from './delivery-row.js';
import type { SqliteFile } from './open-file.js';

const STATES: { readonly [Of in Recoverable]: number } = { exhausted: EXHAUSTED, retrying: RETRYING, held: HELD };
const NO_RESPONSES: ReadonlyMap<string, string> = new Map();

export class RecoverableDeliveries {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  count(query: RecoverableQuery): RecoverableCount {
    const counts = query.include.map((of) => this.#sql.count.get(...boundsOf(query, of)) as RecoverableCount);
    const times = (name: 'oldest' | 'newest') => counts.flatMap((one) => one[name] ?? []);
    const count = counts.reduce((sum, one) => sum + one.count, 0);
    if (count === 0) return { count, oldest: null, newest: null };
    return { count, oldest: Math.min(...times('oldest')), newest: Math.max(...times('newest')) };
  }

  /** Without responses. @throws SyntaxError if the view is damaged */
  oldest(query: RecoverableQuery, after: DeliveryPlace | null, limit: number): readonly DeliveryDetail[] {
    const place = [after?.firstAt ?? Number.MIN_SAFE_INTEGER, after?.id ?? '', after?.payment ?? '', limit];
    const rows = query.include.flatMap(
      (of) => this.#sql.oldest.all(...boundsOf(query, of), ...place) as StoredDelivery[],
    );
    const sorted = rows.sort((one, other) => (isNewer(one, other) ? 1 : -1));
    return sorted.slice(0, limit).map((row) => detailOf(row, NO_RESPONSES));
  }

  progress(accountId: number, recoveryId: string): RecoveryProgress {
    const rows = this.#sql.progress.all(accountId, recoveryId) as { readonly state: number; readonly count: number }[];
    const of = (states: readonly number[]) =>
      rows.reduce((sum, { state, count }) => sum + (states.includes(state) ? count : 0), 0);
    const [delivered, failed] = [of([DELIVERED]), of([EXHAUSTED, CANCELLED, HELD, REMOVED])];
    return { sent: delivered + failed + of([RETRYING]), delivered, failed };
  }
}

function boundsOf({ accountId, webhookId, since, until, recovery }: RecoverableQuery, of: Recoverable) {
  return [accountId, webhookId, STATES[of], since, until, recovery, recovery] as const;
}

function statements(file: SqliteFile) {
  const within = `deliveries.account_id = ? AND webhook_id = ? AND state = ? AND state <> 0
    AND deliveries.first_at >= ? AND deliveries.first_at < ? AND (? IS NULL OR recovery IS NOT ?)`;
  return {
    count: file.prepare(
      `SELECT count(*) AS count, min(first_at) AS oldest, max(first_at) AS newest FROM deliveries WHERE ${within}`,
    ),
    oldest: file.prepare(
      `SELECT ${DETAILED} FROM deliveries ${WITH_EVENT} WHERE ${within} AND (${PLACE}) > (?, ?, ?)
       ORDER BY ${PLACE} LIMIT ?`,
    ),
    progress: file.prepare(
      'SELECT state, count(*) AS count FROM deliveries WHERE account_id = ? AND recovery = ? GROUP BY state',
    ),
  };
}

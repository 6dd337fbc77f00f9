/** Deliveries of webhooks that can be sent again, and what became of those that were. */
import type {
  DeliveryPlace,
  NextRecoverable,
  RecoverableCount,
  RecoverableQuery,
  RecoveryProgress,
  Undelivered,
} from '../../ports/deliveries-view.js';
import { DETAILED, inChunks, isNewer, merged, PLACE, placeOf, WITH_EVENT } from './delivery-pages.js';
import { DELIVERED, detailOf, EXHAUSTED, HELD, RETRYING, type StoredDelivery } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';

const STATES: { readonly [Of in Undelivered]: number } = { exhausted: EXHAUSTED, retrying: RETRYING, held: HELD };
const NO_RESPONSES: ReadonlyMap<string, string> = new Map();
/** Deliveries that were requested already, in a call. */
const MOST_PASSED = 100;
/** Before a first one of that moment: no id is empty. */
const beginOf = (since: number): DeliveryPlace => ({ firstAt: since, id: '', payment: '' });

type Source = readonly [accountId: number, webhookId: number, state: number];

export class RecoverableDeliveries {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  count(query: RecoverableQuery): RecoverableCount {
    const { since, until } = query;
    const counts = sourcesOf(query).map((source) => this.#sql.count.get(...source, since, until) as RecoverableCount);
    const times = (name: 'oldest' | 'newest') => counts.flatMap((one) => one[name] ?? []);
    const count = counts.reduce((sum, one) => sum + one.count, 0);
    if (count === 0) return { count, oldest: null, newest: null };
    return { count, oldest: Math.min(...times('oldest')), newest: Math.max(...times('newest')) };
  }

  /** @throws SyntaxError if the view is damaged */
  next(query: RecoverableQuery, recovery: string, after: DeliveryPlace | null): NextRecoverable {
    let reached: DeliveryPlace | null = null;
    let passed = 0;
    for (const row of this.#behind(query, after)) {
      reached = placeOf(row);
      const isRequested = this.#sql.isRequested.get(query.accountId, recovery, row.row) !== undefined;
      if (!isRequested) return { delivery: detailOf(row, NO_RESPONSES), reached };
      passed += 1;
      if (passed === MOST_PASSED) break;
    }
    return { delivery: null, reached };
  }

  progress(accountId: number, recoveryId: string): RecoveryProgress {
    return this.#sql.progress.get(accountId, recoveryId) as RecoveryProgress;
  }

  /** Oldest first. */
  #behind(query: RecoverableQuery, after: DeliveryPlace | null): Iterable<StoredDelivery> {
    const { since, until } = query;
    const begin = after ?? beginOf(since);
    const rows = (source: Source) =>
      inChunks(begin, ({ firstAt, id, payment }, limit) => {
        const place = [firstAt, id, firstAt, id, payment];
        return this.#sql.behind.all(...source, until, ...place, limit) as StoredDelivery[];
      });
    return merged(sourcesOf(query).map(rows), (one, other) => isNewer(other, one));
  }
}

function sourcesOf({ accountId, webhookIds, include }: RecoverableQuery): readonly Source[] {
  return webhookIds.flatMap((webhookId) => include.map((of): Source => [accountId, webhookId, STATES[of]]));
}

function statements(file: SqliteFile) {
  const ofSource = 'deliveries.account_id = ? AND webhook_id = ? AND state = ? AND state <> 0';
  return {
    count: file.prepare(
      `SELECT count(*) AS count, min(first_at) AS oldest, max(first_at) AS newest FROM deliveries
       WHERE ${ofSource} AND first_at >= ? AND first_at < ?`,
    ),
    behind: file.prepare(behind(ofSource)),
    isRequested: file.prepare('SELECT 1 FROM recovered WHERE account_id = ? AND recovery = ? AND row = ?'),
    progress: file.prepare(
      `SELECT count(*) AS sent, count(*) FILTER (WHERE state = ${DELIVERED}) AS delivered,
         count(*) FILTER (WHERE state NOT IN (${DELIVERED}, ${RETRYING})) AS failed
       FROM recovered WHERE account_id = ? AND recovery = ?`,
    ),
  };
}

/** The range of by_state begins at the place: the payment, which the index lacks, only parts the publications of one ms. */
function behind(ofSource: string): string {
  return `SELECT ${DETAILED} FROM deliveries ${WITH_EVENT}
    WHERE ${ofSource} AND deliveries.first_at < ? AND (deliveries.first_at, id) >= (?, ?) AND (${PLACE}) > (?, ?, ?)
    ORDER BY ${PLACE} LIMIT +?`;
}

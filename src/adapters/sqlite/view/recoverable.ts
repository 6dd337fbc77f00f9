/** Deliveries of webhooks that can be sent again, and what became of those that were. */
import type {
  DeliveryDetail,
  DeliveryPlace,
  RecoverableCount,
  RecoverableQuery,
  RecoveryProgress,
  Undelivered,
} from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { pageOf } from './bounded-page.js';
import { arms, type DeliveryCandidate, inStates, placeOf } from './delivery-pages.js';
import { STATE } from './delivery-row.js';
import { ShownDeliveries } from './shown-delivery.js';

type Query = Omit<RecoverableQuery, 'accountId'>;

const STATES_OF: { readonly [Of in Undelivered]: number } = STATE;

export class Recoverable {
  readonly #sql: ReturnType<typeof statements>;
  readonly #shown: ShownDeliveries;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
    this.#shown = new ShownDeliveries(file);
  }

  count(accountId: number, { webhookIds, since, until, include }: Query): RecoverableCount {
    const states = JSON.stringify(include.map((one) => STATES_OF[one]));
    const asked = { accountId, webhooks: JSON.stringify(webhookIds), states, since, until };
    return this.#sql.count.get(asked) as RecoverableCount;
  }

  /** Oldest first. @throws SyntaxError if the view is damaged */
  next(accountId: number, query: Query, recovery: string, after: DeliveryPlace | null) {
    const isAskedFor = ({ webhook_id, row }: DeliveryCandidate) =>
      query.webhookIds.includes(webhook_id) && this.#sql.isRequested.get(accountId, recovery, row) === undefined;
    const { shown, next } = pageOf(this.#behind(accountId, query, after), 1, isAskedFor);
    const [found] = shown;
    const delivery: DeliveryDetail | null = found ? this.#shown.detail(found.row, () => false) : null;
    const reached = found ?? next;
    return { delivery: delivery && { ...delivery, responses: new Map() }, reached: reached && placeOf(reached) };
  }

  progress(accountId: number, recoveryId: string): RecoveryProgress {
    return this.#sql.progress.get(accountId, recoveryId) as RecoveryProgress;
  }

  #behind(accountId: number, { since, until, include }: Query, after: DeliveryPlace | null) {
    const place = after ?? { firstAt: since, id: '', payment: '' };
    const states = arms(include.map((one) => STATES_OF[one]));
    const asked = { accountId, from: Math.max(since, place.firstAt), most: until - 1, ...place, ...states };
    return this.#sql.behind.iterate(asked) as Iterable<DeliveryCandidate>;
  }
}

function statements(file: SqliteFile) {
  const [delivered, refused] = [STATE.delivered, STATE.refused];
  return {
    count: file.prepare(
      `SELECT count(*) AS count, min(first_at) AS oldest, max(first_at) AS newest FROM deliveries
       WHERE account_id = @accountId AND webhook_id IN (SELECT value FROM json_each(@webhooks))
         AND state IN (SELECT value FROM json_each(@states)) AND first_at >= @since AND first_at < @until`,
    ),
    behind: file.prepare(inStates('AND state <> 0', '>', Object.values(STATES_OF))),
    isRequested: file.prepare('SELECT 1 FROM recovered WHERE account_id = ? AND recovery = ? AND delivery = ?'),
    progress: file.prepare(
      `SELECT count(*) AS sent, count(*) FILTER (WHERE state IN (${delivered}, ${refused})) AS delivered,
         count(*) FILTER (WHERE state NOT IN (${delivered}, ${refused}, ${STATE.retrying})) AS failed
       FROM recovered WHERE account_id = ? AND recovery = ?`,
    ),
  };
}

/** What leaves the view: what the topic has lost, and what arrived at once where the view has become too large. */
import type { SqliteFile } from '../open-file.js';
import { STATE } from './delivery-row.js';
import { ARRIVAL } from './event-row.js';
import type { Columns } from './schema.js';
import type { Webhooks } from './webhooks.js';

/** last_at: its own, without its deliveries'. */
type OldEvent = Columns<'row' | 'account_id' | 'first_at' | 'last_at' | 'is_leaving', never>;
type OldDelivery = Columns<'row' | 'account_id' | 'webhook_id' | 'state', never>;

/** Events that a call looks at. */
const AT_ONCE = 250;

export class Leaving {
  readonly #sql: ReturnType<typeof statements>;
  readonly #webhooks: Webhooks;
  /** Rows up to these were looked at in a round over all events; what was kept is looked at in the next round. */
  #forgottenTo = 0;
  #trimmedTo = 0;

  constructor(file: SqliteFile, webhooks: Webhooks) {
    this.#sql = statements(file);
    this.#webhooks = webhooks;
  }

  /** Deletes events whose entries are all older, oldest first, some at a time. @param before ms since the epoch */
  forget(before: number): void {
    const events = this.#sql.old.all({ before, behind: this.#forgottenTo, most: AT_ONCE }) as OldEvent[];
    const isOld = events.length === AT_ONCE && events.some(({ last_at }) => last_at < before);
    this.#forgottenTo = isOld ? (events.at(-1)?.row ?? 0) : 0;
    const lost = this.#deleted(events);
    for (const accountId of new Set(lost.map(({ account_id }) => account_id))) this.#webhooks.forget(accountId, before);
  }

  /**
   * Deletes events that arrived at their first attempts, oldest first. Counters and webhooks keep what is known of them.
   * @param most events that are looked at
   */
  trim(most: number): void {
    const events = this.#sql.arrived.all({ behind: this.#trimmedTo, most }) as OldEvent[];
    this.#trimmedTo = events.length === most ? (events.at(-1)?.row ?? 0) : 0;
    const leaving = this.#deleted(events);
    if (leaving.length > 0) this.#sql.complete.run(Math.max(...leaving.map(({ first_at }) => first_at)) + 1);
  }

  /** Since when the view has everything, ms since the epoch; null: nothing has left it but with its topic. */
  completeSince(): number | null {
    return this.#sql.completeSince.get() as number | null;
  }

  #deleted(events: readonly OldEvent[]): readonly OldEvent[] {
    const leaving = events.filter(({ is_leaving }) => is_leaving === 1);
    for (const { row } of leaving) this.#delete(row);
    return leaving;
  }

  #delete(event: number): void {
    for (const delivery of this.#sql.deliveries.all(event) as OldDelivery[]) {
      this.#webhooks.forgetDelivery(delivery);
      this.#sql.deleteAttempts.run(delivery.row);
      this.#sql.deleteRecovered.run(delivery.row);
      this.#sql.deleteDelivery.run(delivery.row);
    }
    this.#sql.deleteRoutings.run(event);
    this.#sql.deleteEvent.run(event);
  }
}

function statements(file: SqliteFile) {
  const ofEvent = 'FROM deliveries WHERE event = events.row';
  const isAtOnce = `last_state = ${STATE.delivered} AND last_chain = 0 AND last_made = 1 AND state = ${STATE.delivered}`;
  const some = (isLeaving: string) =>
    `SELECT row, account_id, first_at, last_at, ${isLeaving} AS is_leaving FROM events WHERE row > @behind ORDER BY row LIMIT +@most`;
  return {
    old: file.prepare(some(`last_at < @before AND NOT EXISTS (SELECT 1 ${ofEvent} AND last_at >= @before)`)),
    arrived: file.prepare(
      some(`arrived = ${ARRIVAL.all} AND NOT EXISTS (
        SELECT 1 ${ofEvent} AND NOT (${isAtOnce} AND requested IS NULL AND given_state IS NULL)
      )`),
    ),
    complete: file.prepare('UPDATE view SET complete_since = max(coalesce(complete_since, 0), ?)'),
    completeSince: file.prepare('SELECT complete_since FROM view').pluck(),
    deliveries: file.prepare('SELECT row, account_id, webhook_id, state FROM deliveries WHERE event = ?'),
    deleteAttempts: file.prepare('DELETE FROM attempts WHERE delivery = ?'),
    deleteRecovered: file.prepare('DELETE FROM recovered WHERE delivery = ?'),
    deleteDelivery: file.prepare('DELETE FROM deliveries WHERE row = ?'),
    deleteRoutings: file.prepare('DELETE FROM routings WHERE event = ?'),
    deleteEvent: file.prepare('DELETE FROM events WHERE row = ?'),
  };
}

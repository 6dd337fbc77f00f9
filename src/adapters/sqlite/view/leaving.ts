/** What leaves the view: what the topic has lost, and what arrived at once where the view has become too large. */
import type { Statements } from '../statements.js';
import { ARRIVAL } from './event-row.js';
import { isIn } from './lists.js';

type OldEvent = Readonly<Record<'row' | 'accountId' | 'firstAt' | 'isLeaving', number>>;

/** Events that a call looks at. */
const AT_ONCE = 250;

const some = (isLeaving: string) => `
  SELECT row, accountId, firstAt, ${isLeaving} AS isLeaving FROM events WHERE row > @behind ORDER BY row LIMIT +@most`;
const OLD = some('toldAt < @before');
const ARRIVED = some(`arrived = ${ARRIVAL.atOnce}`);
const FORGET_WEBHOOKS = `DELETE FROM webhooks WHERE ${isIn('accountId', 'accounts')} AND NOT EXISTS (
  SELECT 1 FROM deliveries WHERE accountId = webhooks.accountId AND webhookId = webhooks.webhookId)`;
const COMPLETE = 'UPDATE view SET completeSince = max(coalesce(completeSince, 0), ?)';

export class Leaving {
  readonly #sql: Statements;
  /** By its question, the row up to which a round over all events came; what it keeps, the next round looks at again. */
  readonly #reached = new Map<string, number>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Deletes events whose entries are all older, oldest first, some at a time. @param before ms since the epoch */
  forget(before: number): void {
    const left = this.#leave(OLD, { before, most: AT_ONCE });
    const accounts = JSON.stringify(left.map(({ accountId }) => accountId));
    if (left.length > 0) this.#sql.run(FORGET_WEBHOOKS, { accounts });
    // Those behind what is not old are younger still, but for some, which a later round finds.
    if (left.length === 0) this.#reached.delete(OLD);
  }

  /**
   * Deletes events that arrived at their first attempts, oldest first. Counters and webhooks keep what is known of them.
   * @param most events that are looked at
   */
  trim(most: number): void {
    const left = this.#leave(ARRIVED, { most });
    if (left.length > 0) this.#sql.run(COMPLETE, [Math.max(...left.map(({ firstAt }) => firstAt)) + 1]);
  }

  #leave(question: string, values: { readonly most: number; readonly before?: number }): readonly OldEvent[] {
    const events = this.#sql.rows<OldEvent>(question, { ...values, behind: this.#reached.get(question) ?? 0 });
    this.#reached.set(question, events.length === values.most ? (events.at(-1)?.row ?? 0) : 0);
    const leaving = events.filter(({ isLeaving }) => isLeaving === 1);
    for (const { row } of leaving) this.#sql.run('DELETE FROM events WHERE row = ?', [row]);
    return leaving;
  }
}

/** What leaves the view: what the topic has lost, and what arrived at once where the view has become too large. */
import type { Statements } from '../statements.js';
import { forgettingCounts } from './counters.js';
import { ARRIVAL } from './event-row.js';

type OldEvent = Readonly<Record<'row' | 'firstAt' | 'isLeaving', number>>;

/** Events that a call looks at. */
const AT_ONCE = 250;

const some = (isLeaving: string) => `
  SELECT row, firstAt, ${isLeaving} AS isLeaving FROM events WHERE row > @behind ORDER BY row LIMIT +@most`;
const OLD = some('toldAt < @before');
const ARRIVED = some(`arrived = ${ARRIVAL.atOnce}`);
const COMPLETE = 'UPDATE view SET completeSince = max(coalesce(completeSince, 0), ?) WHERE rowid = 1';

export function leavingOf(sql: Statements) {
  /** By its question, the row up to which a round over all events came; what it keeps, the next round looks at again. */
  const reached = new Map<string, number>();
  const forgetCounts = forgettingCounts(sql);
  const leave = (question: string, values: { readonly most: number; readonly before?: number }) => {
    const events = sql.rows<OldEvent>(question, { ...values, behind: reached.get(question) ?? 0 });
    reached.set(question, events.length === values.most ? (events.at(-1)?.row ?? 0) : 0);
    const left = events.filter(({ isLeaving }) => isLeaving === 1);
    for (const { row } of left) sql.run('DELETE FROM events WHERE row = ?', [row]);
    return left;
  };
  return {
    /** Deletes events whose entries are all older, oldest first, some at a time. @param before ms since the epoch */
    forget(before: number): void {
      const left = leave(OLD, { before, most: AT_ONCE });
      // Those behind what is not old are younger still, but for some, which a later round finds.
      if (left.length === 0) reached.delete(OLD);
      forgetCounts(before);
    },
    /** Deletes events that arrived at their first attempts, oldest first; counters keep them. @param most that it looks at */
    trim(most: number): void {
      const left = leave(ARRIVED, { most });
      if (left.length > 0) sql.run(COMPLETE, [Math.max(...left.map(({ firstAt }) => firstAt)) + 1]);
    },
  };
}

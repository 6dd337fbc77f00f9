/**
 * A retry record may be redelivered, after a crash between its next record and the commit. Both copies would make an
 * attempt and publish a next record: two rows of attempts, to the end of the schedule. So a process takes a step of a delivery
 * (its chain, and its attempts and deferrals so far) once: a duplicate waits for the step in progress, and is left out once it is durable.
 * All records of a delivery are in one partition of a tier, so the copies meet.
 *
 * A delivery that was deferred many times has a record of each in its tier, and after a crash all may come again: once an
 * attempt was made, the others are left out. A request begins another chain, and a second publication has another place.
 */
import type { Deliver } from './delivery-attempt.js';
import { RecentByAccount } from './recent-by-account.js';

/**
 * About 5 MiB, shared fairly by account: if N accounts have retried since the process started, because steps do not expire, it
 * remembers at least the newest 18,000 / N steps of each. A duplicate arrives as late as a restart takes. If its account has taken more steps than that in between, its copies meet at a
 * later step.
 */
const MAX_REMEMBERED = 20_000;

export function eachStepOnce(deliver: Deliver): Deliver {
  const underWay = new Map<string, Promise<boolean>>();
  const durable = new RecentByAccount(MAX_REMEMBERED);

  return async (delivery, hold) => {
    const { accountId, id, payment, chain, attempts, deferrals } = delivery;
    const attempt = `${id} ${payment} ${chain} ${attempts}`;
    const step = `${attempt} ${deferrals}`;
    // Whatever became of it: a rejected step is taken by the next.
    for (let other = underWay.get(attempt); other; other = underWay.get(attempt)) await other.catch(() => undefined);
    if (durable.has(accountId, attempt)) return true;
    if (durable.has(accountId, step)) return false;
    const taken = deliver(delivery, hold);
    underWay.set(attempt, taken);
    try {
      const isOver = await taken;
      durable.add(accountId, isOver ? attempt : step);
      return isOver;
    } finally {
      underWay.delete(attempt);
    }
  };
}

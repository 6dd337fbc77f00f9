/** A sound view that answers these queries. */
import type { AccountView, AskView, EventsPage, ViewQueries } from '../../../src/ports/deliveries-view.js';

type Answers = Partial<ViewQueries>;

const NO_EVENTS: EventsPage = { events: [], next: null, completeSince: null };

export function accountView(answers: Answers, viewId = 'view-1'): AccountView {
  // No event is pending unless a test says so: GET of a delivery asks for those too.
  const asking = Object.entries({ events: () => NO_EVENTS, ...answers }).map(([query, answer]) => [
    query,
    async (...asked: readonly unknown[]) => (answer as (...given: readonly unknown[]) => unknown)(...asked),
  ]);
  return { ...Object.fromEntries(asking), viewId };
}

/** @param answers of each account, or by account */
export function viewOf(answers: Answers | ((accountId: number) => Answers)): AskView {
  const of = (accountId: number) => accountView(typeof answers === 'function' ? answers(accountId) : answers);
  return {
    isCaughtUp: true,
    ask: (accountId, question) => question(of(accountId)),
    idBehind: async () => 'view-1',
  };
}

/** A sound view that answers these queries. */
import type { AccountView, AskView, ViewQueries } from '../../../src/ports/deliveries-view.js';

type Answers = Partial<ViewQueries>;

export function accountView(answers: Answers, viewId = 'view-1'): AccountView {
  const asking = Object.entries(answers).map(([query, answer]) => [
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

/** The deliveries view, asked in the caller's thread. */
import type { DeliveriesView, ViewCore, ViewQueries } from '../ports/deliveries-view.js';

export function viewInThisThread(
  core: ViewCore,
  isRemoved: (accountId: number, webhookId: number) => boolean,
): DeliveriesView {
  const of = (accountId: number): ViewQueries => {
    const known = [...core.of({ accountId, webhookIds: null }).health().keys()];
    return core.of({ accountId, webhookIds: known.filter((id) => !isRemoved(accountId, id)) });
  };
  return {
    id: core.id,
    positions: (topic) => core.positions(topic),
    add: (entries, reached) => core.add(entries, reached),
    page: (query) => of(query.accountId).page(query),
    publications: (accountId, id) => of(accountId).publications(id),
    events: (query) => of(query.accountId).events(query),
    feed: (query) => of(query.accountId).feed(query),
    stats: (query) => of(query.accountId).stats(query),
    dataSince: (accountId) => of(accountId).dataSince(),
    health: (accountId) => of(accountId).health(),
    recoverableCount: (query) => of(query.accountId).recoverableCount(query),
    nextRecoverable: (query, recovery, after) => of(query.accountId).nextRecoverable(query, recovery, after),
    missedCount: (query) => of(query.accountId).missedCount(query),
    nextMissed: (query, recovery, after) => of(query.accountId).nextMissed(query, recovery, after),
    recovery: (accountId, id) => of(accountId).recovery(id),
    forget: (before) => core.forget(before),
    discard: () => core.discard(),
    close: () => core.close(),
  };
}

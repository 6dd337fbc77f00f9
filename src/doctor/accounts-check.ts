/** Folds the accounts like the service, and names those that it sets aside. */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import type { SetAside } from '../ports/projection-states.js';
import { hiddenIn, setAsideText } from '../read-model/account-unreadable.js';
import type { AccountState } from '../read-model/accounts.js';
import { type Folded, foldNext } from '../read-model/fold.js';
import { combined, loadProjection, PROJECTIONS } from '../read-model/projection-source.js';
import { type Finding, fail, ok } from './check.js';
import { storedBatches } from './stored-batches.js';

const READ_AGAIN =
  'find out who else writes to the event store; install a release that reads the event, restart, and run dead-letters replay';
const SHOW_AGAIN =
  "undo what hides its events (docs/operations.md, Metadata of accounts' streams), and run dead-letters replay";

export interface FoldedAccounts {
  /** An account with an unreadable event only up to that event. */
  readonly accounts: ReadonlyMap<string, Folded<AccountState>>;
  /** By an event that this release cannot read. */
  readonly unreadable: ReadonlyMap<string, SetAside>;
  /** Deleted, truncated or expired. */
  readonly hidden: ReadonlyMap<string, SetAside>;
}

export async function foldAccounts(store: EventStore): Promise<FoldedAccounts> {
  const projection = combined(PROJECTIONS.map(loadProjection));
  const accounts = new Map<string, Folded<AccountState>>();
  const unreadable = new Map<string, SetAside>();
  const suspects = new Set<string>();
  const fold = (event: RecordedEvent) => {
    const { stream, revision } = event;
    if (revision > 0 && !accounts.has(stream)) suspects.add(stream);
    if (unreadable.has(stream)) return;
    const next = foldNext(projection, accounts.get(stream), event);
    if ('why' in next) unreadable.set(stream, next);
    else accounts.set(stream, next);
  };
  for await (const { events, reshaped = [] } of storedBatches(store, null, projection.streamPrefix)) {
    for (const stream of reshaped) suspects.add(stream);
    events.forEach(fold);
  }
  return { accounts, unreadable, hidden: await hiddenOf(store, suspects) };
}

async function hiddenOf(store: EventStore, streams: ReadonlySet<string>): Promise<Map<string, SetAside>> {
  const hidden = new Map<string, SetAside>();
  for (const stream of streams) {
    const setAside = await hiddenIn(store, stream);
    if (setAside) hidden.set(stream, setAside);
  }
  return hidden;
}

/** One finding per account that the service sets aside. */
export function accountsRead({ accounts, unreadable, hidden }: FoldedAccounts): readonly Finding[] {
  const found = [
    ...[...hidden].map(([stream, event]) => fail(setAsideText(stream, event), SHOW_AGAIN)),
    ...[...unreadable].map(([stream, event]) => fail(setAsideText(stream, event), READ_AGAIN)),
  ];
  return found.length > 0
    ? found
    : [ok(`every event of theirs can be read (${accounts.size} accounts and publishers)`)];
}

/** Names the accounts that the service sets aside. */
import { setAsideText } from '../read-model/account-unreadable.js';
import type { FoldedStreams } from '../read-model/stored-events.js';
import type { AccountState } from '../webhooks/state.js';
import { type Finding, fail, ok } from './check.js';

const READ_AGAIN =
  'find out who else writes to the event store; install a release that reads the event, restart, and run dead-letters replay';
const SHOW_AGAIN =
  "undo what hides its events (docs/operations.md, Metadata of accounts' streams), and run dead-letters replay";

/** One finding per account. */
export function accountsRead({ states, unreadable, hidden }: FoldedStreams<AccountState>): readonly Finding[] {
  const found = [
    ...[...hidden].map(([stream, event]) => fail(setAsideText(stream, event), SHOW_AGAIN)),
    ...[...unreadable].map(([stream, event]) => fail(setAsideText(stream, event), READ_AGAIN)),
  ];
  return found.length > 0 ? found : [ok(`every event of theirs can be read (${states.size} accounts and publishers)`)];
}

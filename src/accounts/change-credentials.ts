/**
 * Handles a command on sessions and signing secrets like one on webhooks (webhooks/handle-command.ts): the append
 * carries the revision that the decision was based on, so of all processes one uses a one-time code.
 */
import type { Accounts } from '../read-model/accounts.js';
import { bytesOf } from '../webhooks/account-buckets.js';
import { type CommandContext, enveloped } from '../webhooks/envelope.js';
import { appendOrGiveBack, type CommandParts } from '../webhooks/handle-command.js';
import { type CredentialCommand, type CredentialDecision, decideCredentials } from './decide-credentials.js';

export type ChangedCredentials =
  | CredentialDecision
  /** The account has added too much to its history; nothing was appended. */
  | { readonly kind: 'over-budget'; readonly retryAfterMs: number };

/** @throws StoreUnavailable: the result is unknown; TooManyWaiting; the errors of Accounts.credentialsNow */
export type ChangeCredentials = (
  accountId: number,
  command: CredentialCommand,
  context: CommandContext,
) => Promise<ChangedCredentials>;

type Known = Pick<Accounts, 'credentialsNow'>;

export function createChangeCredentials(parts: CommandParts, accounts: Known): ChangeCredentials {
  return (accountId, command, context) =>
    parts.turns.take(accountId, async () => {
      for (;;) {
        const changed = await change(parts, accounts, accountId, { command, context });
        if (changed) return changed;
      }
    });
}

/** Null if the stream had moved on. */
async function change(
  parts: CommandParts,
  accounts: Known,
  accountId: number,
  { command, context }: { command: CredentialCommand; context: CommandContext },
): Promise<ChangedCredentials | null> {
  const now = await accounts.credentialsNow(accountId);
  const decision = decideCredentials(now?.credentials ?? null, command);
  if (!now || decision.kind !== 'accepted') return decision;
  const events = enveloped(decision.events, context, parts.newEventId);
  const { retryAfterMs, bytes } = taken(parts, accountId, command, bytesOf(events));
  if (retryAfterMs > 0) return { kind: 'over-budget', retryAfterMs };
  const on = { revision: now.revision, context, bytes };
  const revision = await appendOrGiveBack(parts, accountId, events, on);
  if (revision === null) return null;
  now.append(events, revision);
  return decision;
}

/** Entering and ending a session are always accepted: each session can be entered and ended only once. */
function taken({ budget }: CommandParts, accountId: number, { type }: CredentialCommand, bytes: number) {
  if (type === 'EnterSession' || type === 'EndSession') {
    return { retryAfterMs: 0, bytes: budget.charge(accountId, bytes) };
  }
  return { retryAfterMs: budget.take(accountId, bytes), bytes };
}

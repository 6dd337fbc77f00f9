/**
 * Handles a command on sessions and signing secrets like one on webhooks (webhooks/handle-command.ts): the append
 * carries the revision that the decision was based on, so of all processes one uses a one-time code.
 */
import { type CommandContext, enveloped, requesterIn } from '../webhooks/envelope.js';
import { appendPaid, type CommandParts, type OverBudget } from '../webhooks/handle-command.js';
import { type CredentialCommand, type CredentialDecision, decideCredentials } from './decide-credentials.js';

type ChangedCredentials = CredentialDecision | OverBudget;

/** @throws StoreUnavailable: the result is unknown; CommandQueueFull; the errors of LoadAccount */
export type ChangeCredentials = (
  accountId: number,
  command: CredentialCommand,
  context: CommandContext,
) => Promise<ChangedCredentials>;

export function createChangeCredentials(parts: CommandParts): ChangeCredentials {
  return (accountId, command, context) => {
    const requester = requesterIn(accountId, context);
    return parts.queue.run(
      accountId,
      async () => {
        const account = await parts.load(accountId);
        const decision = decideCredentials(account.credentials, command);
        if (decision.kind !== 'accepted') return decision;
        const events = enveloped(decision.events, context, parts.newEventId);
        // Each session can be entered and ended only once.
        const isBounded = command.type === 'EnterSession' || command.type === 'EndSession';
        const appended = await appendPaid(parts, account, events, { context, mayBeRefused: !isBounded });
        return appended === null || 'kind' in appended ? appended : decision;
      },
      requester,
    );
  };
}

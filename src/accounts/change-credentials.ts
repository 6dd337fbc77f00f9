/**
 * Handles a command on sessions and signing secrets like one on webhooks (webhooks/handle-command.ts): the append
 * carries the revision that the decision was based on, so of all processes one uses a one-time code.
 */
import type { CommandDeps } from '../webhooks/command-deps.js';
import { type CommandContext, enveloped, requesterIn } from '../webhooks/envelope.js';
import { handleAccountCommand, type OverBudget } from '../webhooks/handle-command.js';
import { type CredentialCommand, type CredentialDecision, decideCredentials } from './decide-credentials.js';

type ChangedCredentials = CredentialDecision | OverBudget;

/** @throws the errors of handleAccountCommand */
export type ChangeCredentials = (
  accountId: number,
  command: CredentialCommand,
  context: CommandContext,
) => Promise<ChangedCredentials>;

export function createChangeCredentials(deps: CommandDeps): ChangeCredentials {
  return (accountId, command, context) =>
    handleAccountCommand<CredentialDecision>(deps, {
      accountId,
      context,
      requester: requesterIn(accountId, context),
      isFollowedByPause: false,
      decide({ folded }) {
        const decision = decideCredentials(folded?.state['account-credentials'] ?? null, command);
        if (decision.kind !== 'accepted') return { kind: 'end', result: decision };
        const events = enveloped(decision.events, context, deps.newEventId);
        return { kind: 'append', events, isCharged: mayBeRejected(command), result: decision };
      },
    });
}

/** Each session can be entered and ended only once. */
function mayBeRejected({ type }: CredentialCommand): boolean {
  return type !== 'EnterSession' && type !== 'EndSession';
}

/**
 * Decides when a webhook's recovery starts and ends. Pure.
 *
 *   running -> done      (everything was sent)
 *           -> stopped   (by the account, or because the webhook is inactive)
 */
import type { RecoveryRequest, WebhookEvent } from './events.js';
import type { AccountWebhooks } from './state.js';

interface StartRecovery extends RecoveryRequest {
  readonly type: 'StartRecovery';
  readonly at: string;
}

/** The account's own request. */
interface StopRecovery {
  readonly type: 'StopRecovery';
  readonly recoveryId: string;
  readonly at: string;
}

/** By the process that runs the recovery. */
interface FinishRecovery {
  readonly type: 'FinishRecovery';
  readonly recoveryId: string;
  readonly state: 'done' | 'stopped';
  readonly at: string;
}

export type RecoveryCommand = StartRecovery | StopRecovery | FinishRecovery;

export type RecoveryDecision =
  | { readonly kind: 'accepted'; readonly events: readonly WebhookEvent[] }
  | { readonly kind: 'webhook-not-found' }
  | { readonly kind: 'webhook-inactive' }
  | { readonly kind: 'recovery-running' }
  | { readonly kind: 'recovery-not-found' };

export function decideRecovery(state: AccountWebhooks, command: RecoveryCommand): RecoveryDecision {
  switch (command.type) {
    case 'StartRecovery':
      return start(state, command);
    case 'StopRecovery':
      return end(state, command, 'stopped');
    case 'FinishRecovery':
      return end(state, command, command.state);
    default:
      return command satisfies never;
  }
}

function start(state: AccountWebhooks, { type: _, at: startedAt, ...request }: StartRecovery): RecoveryDecision {
  const webhook = state.webhooks.find(({ id }) => id === request.webhookId);
  if (!webhook) return { kind: 'webhook-not-found' };
  if (!webhook.isActive) return { kind: 'webhook-inactive' };
  if (state.recoveries.some(({ webhookId, state: now }) => webhookId === webhook.id && now === 'running')) {
    return { kind: 'recovery-running' };
  }
  return accepted({ type: 'RecoveryStarted', data: { ...request, startedAt } });
}

function end(
  state: AccountWebhooks,
  { recoveryId, at: endedAt }: StopRecovery | FinishRecovery,
  as: 'done' | 'stopped',
): RecoveryDecision {
  const recovery = state.recoveries.find(({ id }) => id === recoveryId);
  if (!recovery) return { kind: 'recovery-not-found' };
  if (recovery.state !== 'running') return accepted();
  return accepted({ type: 'RecoveryEnded', data: { recoveryId, webhookId: recovery.webhookId, state: as, endedAt } });
}

function accepted(...events: WebhookEvent[]): RecoveryDecision {
  return { kind: 'accepted', events };
}

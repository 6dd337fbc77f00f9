/**
 * Decides when a recovery of some webhooks starts and ends. Pure.
 *
 *   running -> done      (everything was sent, but what could not be sent)
 *           -> stopped   (by the account)
 */
import type { RecoveryRequest, WebhookEvent } from './events.js';
import type { AccountWebhooks, Recovery } from './state.js';

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
  readonly passedBy: number;
  readonly at: string;
}

export type RecoveryCommand = StartRecovery | StopRecovery | FinishRecovery;

export type RecoveryDecision =
  | { readonly kind: 'accepted'; readonly events: readonly WebhookEvent[] }
  | { readonly kind: 'webhook-not-found' }
  | { readonly kind: 'webhook-inactive' }
  | { readonly kind: 'recovery-running'; readonly params: { readonly webhookIds: readonly number[] } }
  | { readonly kind: 'recovery-not-found' };

export function decideRecovery(state: AccountWebhooks, command: RecoveryCommand): RecoveryDecision {
  switch (command.type) {
    case 'StartRecovery':
      return start(state, command);
    case 'StopRecovery':
      return end(state, command, { state: 'stopped', passedBy: null });
    case 'FinishRecovery':
      return end(state, command, { state: 'done', passedBy: command.passedBy });
    default:
      return command satisfies never;
  }
}

function start(state: AccountWebhooks, { type: _, at: startedAt, ...request }: StartRecovery): RecoveryDecision {
  const { webhookIds } = request;
  const webhooks = webhookIds.map((id) => state.webhooks.find((webhook) => webhook.id === id));
  if (webhooks.includes(undefined)) return { kind: 'webhook-not-found' };
  if (webhooks.some((webhook) => !webhook?.isActive)) return { kind: 'webhook-inactive' };
  const recovered = new Set(state.recoveries.filter(isRunning).flatMap((recovery) => recovery.webhookIds));
  const running = webhookIds.filter((id) => recovered.has(id));
  if (running.length > 0) return { kind: 'recovery-running', params: { webhookIds: running } };
  return accepted({ type: 'RecoveryStarted', data: { ...request, startedAt } });
}

function end(
  state: AccountWebhooks,
  { recoveryId, at: endedAt }: StopRecovery | FinishRecovery,
  how: Pick<Recovery, 'passedBy'> & { readonly state: 'done' | 'stopped' },
): RecoveryDecision {
  const recovery = state.recoveries.find(({ id }) => id === recoveryId);
  if (!recovery) return { kind: 'recovery-not-found' };
  if (!isRunning(recovery)) return accepted();
  return accepted({ type: 'RecoveryEnded', data: { recoveryId, ...how, endedAt } });
}

function isRunning({ state }: Recovery): boolean {
  return state === 'running';
}

function accepted(...events: WebhookEvent[]): RecoveryDecision {
  return { kind: 'accepted', events };
}

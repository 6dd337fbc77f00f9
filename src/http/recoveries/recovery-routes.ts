/** The routes of recoveries. */
import type { Accounts } from '../../read-model/accounts.js';
import type { Admission } from '../admission.js';
import { createOwnWebhook } from '../webhooks/webhook-command.js';
import { listRecoveries, type StopRecoveryParts, showRecovery, stopRecovery } from './recoveries.js';
import { previewRecovery, type StartRecoveryParts, startRecovery, startRecoveryOfSeveral } from './start-recovery.js';

export interface RecoveryParts extends StartRecoveryParts, StopRecoveryParts {
  readonly accounts: Accounts;
}

export function recoveryRoutes(parts: RecoveryParts, admission: Admission) {
  const { accounts, view, now } = parts;
  return [
    previewRecovery(createOwnWebhook(accounts), view, admission, now),
    startRecovery(parts, admission),
    startRecoveryOfSeveral(parts, admission),
    listRecoveries(accounts, view, admission),
    showRecovery(accounts, view, admission),
    stopRecovery(parts, admission),
  ];
}

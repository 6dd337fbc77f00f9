/** The routes of recoveries. */
import type { Accounts } from '../../read-model/accounts.js';
import type { Reading } from '../read-answer.js';
import { createOwnWebhook } from '../webhooks/webhook-command.js';
import { listRecoveries, type StopRecoveryParts, showRecovery, stopRecovery } from './recoveries.js';
import { previewRecovery, type StartRecoveryParts, startRecovery, startRecoveryOfSeveral } from './start-recovery.js';

export interface RecoveryParts extends StartRecoveryParts, StopRecoveryParts {
  readonly accounts: Accounts;
}

export function recoveryRoutes(parts: RecoveryParts, reading: Reading) {
  const { accounts, view, now } = parts;
  return [
    previewRecovery(createOwnWebhook(accounts), view, reading, now),
    startRecovery(parts, reading),
    startRecoveryOfSeveral(parts, reading),
    listRecoveries(accounts, view, reading),
    showRecovery(accounts, view, reading),
    stopRecovery(parts, reading),
  ];
}

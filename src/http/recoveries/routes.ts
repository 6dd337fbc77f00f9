import type { ApiParts } from '../api-parts.js';
import { listRecoveries, showRecovery, stopRecovery } from './recoveries.js';
import { previewRecovery, startRecovery, startRecoveryOfSeveral } from './start-recovery.js';

export const routes = (parts: ApiParts) => [
  previewRecovery(parts),
  startRecovery(parts),
  startRecoveryOfSeveral(parts),
  listRecoveries(parts),
  showRecovery(parts),
  stopRecovery(parts),
];

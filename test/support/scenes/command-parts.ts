/** The dependencies of command handling, as one process has them: without a limit on history, and without tracing. */
import { randomUUID } from 'node:crypto';
import { NO_BUDGET } from '../../../src/webhooks/account-buckets.js';
import { AccountCommandQueue } from '../../../src/webhooks/account-command-queue.js';
import type { CommandParts } from '../../../src/webhooks/handle-command.js';

export function commandParts(parts: Pick<CommandParts, 'store' | 'load'> & Partial<CommandParts>): CommandParts {
  const common = { newEventId: randomUUID, queue: new AccountCommandQueue(), budget: NO_BUDGET };
  return { ...common, tracing: null, time: Date.now, ...parts };
}

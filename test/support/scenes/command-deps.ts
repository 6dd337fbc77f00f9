/** The dependencies of command handling, as one process has them: without a limit on history, and without tracing. */
import { randomUUID } from 'node:crypto';
import type { EventStore } from '../../../src/ports/event-store.js';
import { NO_BUDGET } from '../../../src/webhooks/account-buckets.js';
import { AccountCommandQueue } from '../../../src/webhooks/account-command-queue.js';
import type { CommandAccounts, CommandDeps } from '../../../src/webhooks/command-deps.js';
import { createAppend } from '../../../src/webhooks/handle-command.js';

interface Options extends Partial<Pick<CommandDeps, 'queue' | 'budget' | 'time'>> {
  readonly store: Pick<EventStore, 'append'>;
  readonly accounts: CommandAccounts;
}

export function commandDeps({ store, ...options }: Options): CommandDeps {
  const common = { newEventId: randomUUID, queue: new AccountCommandQueue(), budget: NO_BUDGET, time: Date.now };
  return { ...common, append: createAppend({ store, tracing: null }), ...options };
}

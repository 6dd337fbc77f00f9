/**
 * A command's way: load the state, decide, append with the revision the decision was made on; where another command
 * came first, read forward and decide again. That is what makes the limit of 3 hold under concurrency, over any number
 * of processes. The answer waits until the own read model has passed the event, so the next GET shows it.
 */
import type { Tracing } from '../observability/tracing.js';
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '../ports/event-store.js';
import type { Accounts } from '../read-model/accounts.js';
import type { Folded } from '../read-model/folded-states.js';
import { type Command, type Decision, decide } from './decide.js';
import { accountEvent, type CommandContext, enveloped, type NewEventId } from './envelope.js';
import { accountStream, type WebhookEvent } from './events.js';
import { type AccountWebhooks, evolve, NO_ACCOUNT } from './state.js';

/** How long an answer waits for the read model; the event is stored by then, whatever the read model does. */
const READ_MODEL_WAIT_MS = 5_000;

export interface CommandParts {
  readonly store: EventStore;
  readonly accounts: Accounts;
  readonly passed: (stream: string, revision: number, withinMs: number) => Promise<boolean>;
  readonly newEventId: NewEventId;
  readonly tracing: Pick<Tracing, 'append'>;
}

/** @throws StoreUnavailable: then the command is in doubt, and giving it again is safe. */
export type HandleCommand = (accountId: number, command: Command, context: CommandContext) => Promise<Decision>;

export function createCommandHandler(parts: CommandParts): HandleCommand {
  return async (accountId, command, context) => {
    let loaded = (await parts.accounts.webhooks(accountId)) ?? { state: NO_ACCOUNT, revision: NO_STREAM };
    for (;;) {
      const decision = decide(loaded.state, command);
      const events = decision.kind === 'accepted' ? decision.events : [];
      if (events.length > 0 && (await append(parts, accountId, events, { context, revision: loaded.revision }))) {
        return decision;
      }
      const stored = await readForward(parts.store, accountStream(accountId), loaded);
      // Without an append nothing has yet told whether the read model was behind: another process may have been here.
      if (events.length === 0 && stored.revision === loaded.revision) return decision;
      loaded = stored;
    }
  };
}

/** False where the stream had moved on. */
async function append(
  parts: CommandParts,
  accountId: number,
  events: readonly WebhookEvent[],
  on: { context: CommandContext; revision: number },
): Promise<boolean> {
  const stream = accountStream(accountId);
  const span = parts.tracing.append(stream, on.context.trace ?? null);
  try {
    const { revision } = await parts.store.append(stream, enveloped(events, on.context, parts.newEventId), on.revision);
    span?.end(null);
    await parts.passed(stream, revision, READ_MODEL_WAIT_MS);
    return true;
  } catch (error) {
    span?.end((error as Error).name);
    if (error instanceof WrongExpectedRevision) return false;
    throw error;
  }
}

async function readForward(
  store: EventStore,
  stream: string,
  loaded: Folded<AccountWebhooks>,
): Promise<Folded<AccountWebhooks>> {
  let { state, revision } = loaded;
  for await (const event of store.read(stream, revision + 1)) {
    state = evolve(state, accountEvent(event));
    revision = event.revision;
  }
  return { state, revision };
}

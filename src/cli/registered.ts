import { type EventStore, StreamHidden } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';
import { CommandFailed } from './command-io.js';

/** For a command that found nothing for an account: the id may be mistyped. @throws CommandFailed, StoreUnavailable */
export async function assertRegistered(store: EventStore, accountId: number): Promise<void> {
  if (!(await isThere(store, accountId))) throw new CommandFailed(`account ${accountId} is not registered`);
}

async function isThere(store: EventStore, accountId: number): Promise<boolean> {
  try {
    for await (const _ of store.read(accountStream(accountId))) return true;
    return false;
  } catch (error) {
    // It was registered: its stream is hidden.
    if (error instanceof StreamHidden) return true;
    throw error;
  }
}

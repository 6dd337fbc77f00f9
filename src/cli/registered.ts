import type { EventStore } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';
import { CommandFailed } from './command-io.js';

/** For a command that found nothing for an account: the id may be mistyped. @throws CommandFailed, StoreUnavailable */
export async function assertRegistered(store: EventStore, accountId: number): Promise<void> {
  const events = store.read(accountStream(accountId))[Symbol.asyncIterator]();
  const { done } = await events.next();
  await events.return?.();
  if (done) throw new CommandFailed(`account ${accountId} is not registered`);
}

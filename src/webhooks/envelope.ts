/** What stands around an event: who caused it and by which request. An auditor reads it; no fold does. */
import type { NewEvent } from '../ports/event-store.js';
import type { AccountEvent } from './events.js';

export interface CommandContext {
  /** The client id, or the operating-system user of the command line. */
  readonly actor: string;
  readonly requestId: string;
  readonly correlationId: string;
}

export type NewEventId = () => string;

export function enveloped(events: readonly AccountEvent[], context: CommandContext, newId: NewEventId): NewEvent[] {
  const { actor, requestId, correlationId } = context;
  const metadata = { $correlationId: correlationId, $causationId: requestId, actor, requestId };
  return events.map(({ type, data }) => ({ id: newId(), type, data: { ...data }, metadata }));
}

/** A stored event of an account's stream, as the folds take it: one of a type they do not know is theirs to ignore. */
export function accountEvent({ type, data }: Pick<NewEvent, 'type' | 'data'>): AccountEvent {
  return { type, data } as unknown as AccountEvent;
}

/** An event's metadata: who caused it, and by which request. For auditors; no fold reads it. */
import { type TraceContext, traceparentOf } from '../observability/trace-context.js';
import type { NewEvent } from '../ports/event-store.js';
import type { AccountEvent, StoredAccountEvent } from './events.js';

export interface CommandContext {
  /** The client id, or the operating-system user of the command line. */
  readonly actor: string;
  readonly requestId: string;
  readonly correlationId: string;
  /** The command's trace. */
  readonly trace?: TraceContext | null;
}

export type NewEventId = () => string;

export function enveloped(events: readonly AccountEvent[], context: CommandContext, newId: NewEventId): NewEvent[] {
  const { actor, requestId, correlationId, trace } = context;
  const about = { $correlationId: correlationId, $causationId: requestId, actor, requestId };
  const metadata = trace ? { ...about, $traceparent: traceparentOf(trace) } : about;
  return events.map(({ type, data }) => ({ id: newId(), type, data: { ...data }, metadata }));
}

/** A stored event of an account's stream as input for the folds, which ignore unknown types. */
export function accountEvent({ id, type, data }: Pick<NewEvent, 'id' | 'type' | 'data'>): StoredAccountEvent {
  return { id, type, data } as unknown as StoredAccountEvent;
}

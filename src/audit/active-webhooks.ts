/** When which of an account's webhooks were active: its history folded once, and asked for any moment of it. */
import type { RecordedEvent } from '../ports/event-store.js';
import type { Projection } from '../read-model/projection-source.js';
import type { EventType } from '../webhooks/limits.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';
import { timeOf } from './log.js';

export interface ActiveSpan {
  readonly webhookId: number;
  readonly eventType: EventType;
  /** ms since the epoch; that very millisecond counts. */
  readonly from: number;
  /** ms since the epoch; that very millisecond does not count. Infinity where it is active to this day. */
  readonly until: number;
}

type Growing = { -readonly [Key in keyof ActiveSpan]: ActiveSpan[Key] };

/** @throws what the history throws */
export async function activeSpans(
  history: AsyncIterable<RecordedEvent>,
  projection: Projection,
): Promise<readonly ActiveSpan[]> {
  const spans: Growing[] = [];
  const open = new Map<number, Growing>();
  let state = projection.init() as AccountWebhooks;
  let now = Number.NEGATIVE_INFINITY;
  for await (const event of history) {
    const time = Date.parse(timeOf(event.data) ?? '');
    // One that says no time, or an earlier one (clocks of processes differ), counts with those before it.
    if (time > now) now = time;
    state = projection.fold(state, event) as AccountWebhooks;
    spans.push(...changed(open, state.webhooks, now));
  }
  return spans;
}

/** The webhooks that an event published at that moment, in ms since the epoch, was due to. */
export function activeAt(spans: readonly ActiveSpan[], eventType: EventType, at: number): readonly ActiveSpan[] {
  return spans.filter((span) => span.eventType === eventType && span.from <= at && at < span.until);
}

/** Ends the open spans of those that are not active any more; the spans that begin. */
function changed(open: Map<number, Growing>, webhooks: readonly Webhook[], now: number): Growing[] {
  const active = new Map(webhooks.flatMap((webhook) => (webhook.isActive ? [[webhook.id, webhook]] : [])));
  for (const [id, span] of open) {
    if (active.has(id)) continue;
    span.until = now;
    open.delete(id);
  }
  const begun = [...active.values()].filter(({ id }) => !open.has(id));
  return begun.map(({ id: webhookId, eventType }) => {
    const span = { webhookId, eventType, from: now, until: Number.POSITIVE_INFINITY };
    open.set(webhookId, span);
    return span;
  });
}

/** Entries of the deliveries topic about deliveries: one per attempt and per end. */
import type { Outcome } from '../../ports/delivery-order.js';
import type { AttemptResult } from '../attempt/attempt.js';
import type { Delivery } from '../delivery.js';
import type { DeliveryLogEntry, LoggedAttempt } from './log-record.js';

export function logEntry(
  delivery: Delivery,
  outcome: Outcome,
  attempt: LoggedAttempt | null,
  nextAttemptAt: number | null,
): DeliveryLogEntry {
  const { id, eventId, cloudEvent, eventType, accountId, webhookId, webhookEvent, payment, chain, attempts, step } =
    delivery;
  // One literal, because JSON leaves out what is undefined: with spread parts an entry took 9.4 us, and 2.9 so.
  return {
    id,
    eventId,
    eventSource: cloudEvent?.source,
    eventType,
    accountId,
    webhookId,
    webhookEvent,
    payment: payment ?? undefined,
    outcome,
    chain,
    attempts,
    attempt,
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
    step: outcome === 'retrying' ? step : undefined,
  };
}

/** @param asked of the delivery before the attempt @param response sealed */
export function loggedAttempt(
  result: AttemptResult,
  version: number,
  asked: Pick<Delivery, 'trigger' | 'actor'> = { trigger: 'event', actor: null },
  response?: string,
): LoggedAttempt {
  const { at, status, error, durationMs } = result;
  return {
    at: new Date(at).toISOString(),
    status,
    error,
    reason: result.error === null ? undefined : result.reason,
    durationMs,
    version,
    trigger: asked.trigger === 'event' ? undefined : asked.trigger,
    actor: asked.actor ?? undefined,
    response,
  };
}

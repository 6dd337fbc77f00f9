/** A payment record: parsed, routed by the read model, one delivery for each active URL. */
import type { TraceContext } from '../observability/trace-context.js';
import type { Span } from '../observability/tracing.js';
import type { ReceivedRecord } from '../ports/broker.js';
import { notValid } from './dead-letters.js';
import type { Deliver, DeliverParts } from './deliver.js';
import { newDelivery, traceOf } from './delivery.js';
import { publishWhatFits } from './durable-publish.js';
import { type ParsedPayment, parsePaymentEvent } from './payment-event.js';

/** The record is done when every delivery has ended or is durable in a tier. */
export function createFanOut(parts: DeliverParts, deliver: Deliver) {
  return (record: ReceivedRecord): Promise<void> => {
    const parsed = parsePaymentEvent(record);
    const trace = traceOf(record);
    const span = parts.tracing.fanOut(record, trace);
    const done = fanOut(record, parsed, span?.context ?? trace);
    return span ? inSpan(span, done, parsed.ok ? null : 'not-valid') : done;
  };

  async function fanOut(record: ReceivedRecord, parsed: ParsedPayment, trace: TraceContext | null): Promise<void> {
    if (!parsed.ok) return bury(parts, record, parsed.reason);
    const { event } = parsed;
    const webhooks = parts.accounts.activeWebhooks(event.accountId, event.type);
    // All of them settle before the record does: a rejection hands the record out again, not in the middle of it.
    const settled = await Promise.allSettled(
      webhooks.map((webhook) => deliver(newDelivery(event, webhook, record, trace))),
    );
    const failed = settled.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

async function inSpan(span: Span, done: Promise<void>, outcome: string | null): Promise<void> {
  try {
    await done;
    span.end(outcome);
  } catch (error) {
    span.end('not-done');
    throw error;
  }
}

/** To the dead letters, so that it never stops those after it. */
export async function bury(parts: DeliverParts, record: ReceivedRecord, reason: string): Promise<void> {
  const { topic, partition, offset } = record;
  parts.logger.warn({ topic, partition, offset, reason }, 'a record is not valid; it goes to the dead letters');
  const letter = notValid(record, reason);
  parts.metrics.deadLetter('not-valid');
  // The headers of ours say where the bytes still are.
  const bare = () => notValid({ ...record, key: null, value: null, headers: [] }, reason);
  await publishWhatFits(parts, parts.topics.deadLetters, [() => letter, () => ({ ...letter, value: null }), bare]);
}

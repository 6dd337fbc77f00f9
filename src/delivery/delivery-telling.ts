/** Reports a delivery's steps to the log and the metrics. Of a notice only the log tells. */
import type { Logger } from '../observability/logger.js';
import type { DeliveryMetrics } from '../observability/metrics.js';
import { headerText } from '../ports/broker.js';
import type { AttemptResult } from './attempt/attempt.js';
import type { Delivery } from './delivery.js';
import type { BreakerChange } from './isolation/circuit-breaker.js';
import type { NextStep, StepResult } from './next-step.js';

const CORRELATION = 'x-correlation-id';
const SOUND_ID = /^[\w.:-]{1,128}$/;

export interface DeliveryTelling {
  readonly logger: Logger;
  readonly metrics: DeliveryMetrics;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** The fields of every log line about a delivery. */
export function aboutDelivery(delivery: Delivery) {
  const { id: deliveryId, accountId, webhookId, eventId, cloudEvent, chain, attempts, trace } = delivery;
  const ids = { deliveryId, accountId, webhookId, eventId, eventSource: cloudEvent?.source };
  const progress = { chain: chain || undefined, attempts };
  return { ...ids, correlationId: correlationIdOf(delivery), traceId: trace?.traceId, ...progress };
}

/** The correlation id of all log lines: the caller's own, if the record has a well-formed one, else the delivery's id. */
export function correlationIdOf({ id, record }: Pick<Delivery, 'id' | 'record'>): string {
  const given = record.headers.length > 0 ? headerText(record, CORRELATION) : undefined;
  return given !== undefined && SOUND_ID.test(given) ? given : id;
}

/** What a step came to. @param made null: nothing was sent */
interface Told {
  readonly result: StepResult;
  readonly made: AttemptResult | null;
  readonly step: NextStep;
}

/** @param before the delivery as the step received it */
export function tellStep(telling: DeliveryTelling, before: Delivery, told: Told): void {
  if (!before.isNotice) count(telling, before, told);
  const { result, step } = told;
  const { delivery, outcome, attempt, kept } = step;
  const [level, text] = lineOf(step);
  if (!telling.logger.isLevelEnabled(level)) return;
  const { status, error, reason, durationMs } = attempt ?? {};
  const why = result.kind === 'deferred' ? result.why : kept?.kind === 'letter' ? kept.detail : undefined;
  const next = kept?.kind === 'retry' ? kept.tier.text : undefined;
  const came = { outcome, status, error, reason, durationMs, why, next };
  telling.logger[level]({ ...aboutDelivery(delivery), ...came }, text);
}

/** The fault of a webhook or an account was logged when it happened, so what follows for its deliveries is at debug. */
function lineOf({ outcome, attempt, kept }: NextStep): readonly ['warn' | 'debug', string] {
  const isLost = kept?.kind === 'letter' && (kept.reason === 'exhausted' || kept.reason === 'other-history');
  if (isLost) return ['warn', 'a delivery is exhausted'];
  if (outcome !== 'retrying') return ['debug', 'a delivery ended'];
  return attempt ? ['warn', 'an attempt failed'] : ['debug', 'a delivery is deferred'];
}

function count(telling: DeliveryTelling, before: Delivery, { result, made, step: { outcome, kept } }: Told): void {
  const { metrics } = telling;
  const isDeferred = result.kind === 'deferred' && outcome === 'retrying';
  if (made && made.kind !== 'interrupted') metrics.attempted(made);
  if (result.kind === 'delivered' && before.publishedAt !== null)
    metrics.delivered(
      telling.now() - before.publishedAt,
      before.attempts > 0 || before.deferrals > 0,
      before.eventType,
    );
  metrics.came(isDeferred ? 'deferred' : outcome, before.eventType);
  if (isDeferred) metrics.deferred(result.why);
  if (kept?.kind === 'letter') metrics.deadLetter(kept.reason);
}

export function tellSuperseded({ logger }: DeliveryTelling, delivery: Delivery, laterChain: number): void {
  logger.info({ ...aboutDelivery(delivery), laterChain }, 'a delivery was sent again or cancelled: its record ends');
}

export function tellBreaker({ logger }: DeliveryTelling, delivery: Delivery, change: BreakerChange): void {
  if (change === 'opened')
    logger.warn(aboutDelivery(delivery), 'an endpoint keeps failing: its deliveries are deferred');
  else if (change === 'closed') logger.info(aboutDelivery(delivery), 'an endpoint accepts deliveries again');
}

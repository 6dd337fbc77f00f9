/** Reports a delivery's steps to the log and the metrics. Of a notice only the log tells. */
import type { Logger } from '../observability/logger.js';
import type { DeliveryMetrics } from '../observability/metrics.js';
import { headerText } from '../ports/broker.js';
import type { AttemptResult } from './attempt/attempt.js';
import type { Delivery } from './delivery.js';
import type { BreakerChange } from './isolation/circuit-breaker.js';
import type { Letter, NextStep, StepResult } from './next-step.js';

const YEAR_MS = 365 * 24 * 3_600_000;
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

/** @param before the delivery as the step received it @param made null: nothing was sent */
export function tellStep(
  telling: DeliveryTelling,
  before: Delivery,
  { result, made }: { readonly result: StepResult; readonly made: AttemptResult | null },
  step: NextStep,
): void {
  const { logger, metrics } = telling;
  const { delivery, outcome, kept } = step;
  const isDeferred = result.kind === 'deferred' && outcome === 'retrying';
  if (!before.isNotice) {
    if (made && made.kind !== 'interrupted') metrics.attempted(made);
    if (result.kind === 'delivered') recordLatency(telling, before);
    metrics.came(isDeferred ? 'deferred' : outcome, before.eventType);
    if (isDeferred) metrics.deferred(result.why);
  }
  if (kept?.kind !== 'retry') {
    tellEnd(telling, result, step);
    return;
  }
  const next = kept.tier.text;
  if (result.kind === 'deferred') {
    logger.debug({ ...aboutDelivery(delivery), why: result.why, next }, 'a delivery is deferred');
    return;
  }
  const { status = null, error = null, reason } = step.attempt ?? {};
  logger.warn({ ...aboutDelivery(delivery), why: error ?? `status ${status}`, reason, next }, 'an attempt failed');
}

export function tellSuperseded({ logger, metrics }: DeliveryTelling, delivery: Delivery, laterChain: number): void {
  metrics.superseded(delivery.eventType);
  logger.info({ ...aboutDelivery(delivery), laterChain }, 'a delivery was sent again or cancelled: its record ends');
}

export function tellBreaker({ logger }: DeliveryTelling, delivery: Delivery, change: BreakerChange): void {
  if (change === 'opened')
    logger.warn(aboutDelivery(delivery), 'an endpoint keeps failing: its deliveries are deferred');
  else if (change === 'closed') logger.info(aboutDelivery(delivery), 'an endpoint accepts deliveries again');
}

/** No clock is off by a year: such a publisher stamps its records in another unit. */
function recordLatency({ metrics, now }: DeliveryTelling, { publishedAt, attempts, deferrals }: Delivery): void {
  const ms = publishedAt === null ? Number.NaN : now() - publishedAt;
  if (Math.abs(ms) < YEAR_MS) metrics.delivered(ms, attempts > 0 || deferrals > 0);
}

function tellEnd(telling: DeliveryTelling, result: StepResult, step: NextStep): void {
  const { logger } = telling;
  const { delivery, outcome, attempt, kept } = step;
  if (kept?.kind === 'letter') tellLetter(telling, delivery, kept, result);
  if (!logger.isLevelEnabled('debug')) return;
  const { status = null, error = null, reason, durationMs = null } = attempt ?? {};
  logger.debug({ ...aboutDelivery(delivery), outcome, status, error, reason, durationMs }, 'a delivery ended');
}

/** The deactivation of a webhook was logged when it happened, so its deliveries are logged at debug only. */
function tellLetter(
  { logger, metrics }: DeliveryTelling,
  delivery: Delivery,
  { reason, detail: why }: Letter,
  result: StepResult,
): void {
  const logFields = aboutDelivery(delivery);
  if (delivery.isNotice) {
    logger.warn({ ...logFields, why }, 'a notice could not be delivered and is given up');
    return;
  }
  metrics.deadLetter(reason);
  if (reason === 'exhausted') logger.warn({ ...logFields, why }, 'a delivery is exhausted');
  if (result.kind !== 'unsent' || result.to.kind !== 'other-history') return;
  const { webhookEvent } = delivery;
  const { addedBy } = result.to;
  logger.warn({ ...logFields, webhookEvent, addedBy }, 'a delivery is for a webhook of another history');
}

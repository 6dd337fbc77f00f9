/** Makes a step's consequence durable: the retry record or dead letter first, then the log entry about it. */
import type { DeliveryMetrics } from '../observability/metrics.js';
import { type Delivery, toRetryRecord, withoutExtras } from './delivery.js';
import { aboutDelivery } from './delivery-telling.js';
import { asRefusal, type LetterParts, publishLetter, publishWhatFits } from './durable-publish.js';
import { logEntry } from './log/delivery-log.js';
import type { LogWriter } from './log/log-writer.js';
import type { Letter, NextStep } from './next-step.js';
import { deadLetterOf, withoutEvent } from './retry/dead-letters.js';
import type { Topics } from './topics.js';

export interface KeepParts extends LetterParts {
  readonly log: Pick<LogWriter, 'add'>;
  readonly topics: Topics;
  readonly metrics: DeliveryMetrics;
}

export async function keepStep(parts: KeepParts, step: NextStep): Promise<void> {
  const kept = await keep(parts, step);
  if (kept.isTold) await log(parts, kept);
}

/** @returns the step as it is durable: exhausted if the tier refuses the retry record */
async function keep(parts: KeepParts, step: NextStep): Promise<NextStep> {
  const { delivery, kept } = step;
  if (kept === null) return step;
  if (kept.kind === 'letter') {
    await bury(parts, delivery, kept);
    return step;
  }
  const { tier, due } = kept;
  const forms = [() => toRetryRecord(delivery, due), () => toRetryRecord(withoutExtras(delivery), due)];
  const refusal = await publishWhatFits(parts, parts.topics.tier(tier), forms).then(() => null, asRefusal);
  if (!refusal) return step;
  const letter = refused(parts, delivery, refusal.message);
  parts.metrics.came('exhausted', delivery.eventType);
  await bury(parts, delivery, letter);
  return { ...step, outcome: 'exhausted', kept: letter, isTold: true };
}

/** As received; else without its extras; else without the event. */
function bury(parts: KeepParts, delivery: Delivery, letter: Letter): Promise<void> {
  const bare = () => deadLetterOf(withoutExtras(delivery), letter);
  return publishLetter(parts, [() => deadLetterOf(delivery, letter), bare, () => withoutEvent(bare())]);
}

async function log(parts: KeepParts, { delivery, outcome, attempt, kept, endedBy }: NextStep): Promise<void> {
  const due = kept?.kind === 'retry' ? kept.due : null;
  const isHeld = attempt === null && kept?.kind === 'letter' && kept.reason === 'deactivated';
  const told = logEntry(delivery, outcome, attempt, due);
  const entry = isHeld || endedBy ? { ...told, held: isHeld || undefined, endedBy } : told;
  const refusal = await parts.log.add('deliveries', entry).then(() => null, asRefusal);
  if (!refusal) return;
  // The retry record or dead letter is durable, and shows what becomes of the delivery.
  if (kept) return parts.logger.error({ err: refusal, ...aboutDelivery(delivery), outcome }, REFUSED);
  const letter = refused(parts, delivery, `${outcome}; ${refusal.message}`);
  // A replay must not send the event again.
  await publishLetter(parts, [() => withoutEvent(deadLetterOf(delivery, letter))]);
}

const REFUSED = 'a topic refuses a record of a delivery';

function refused({ logger, metrics }: KeepParts, delivery: Delivery, detail: string): Letter {
  logger.error({ ...aboutDelivery(delivery), why: detail }, REFUSED);
  metrics.deadLetter('record-refused');
  return { kind: 'letter', reason: 'record-refused', detail };
}

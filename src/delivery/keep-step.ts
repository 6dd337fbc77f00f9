/** Makes a step's consequence durable: the retry record or dead letter first, then the log entry about it. */
import type { NewRecord } from '../ports/broker.js';
import { type Delivery, toRetryRecord, withoutExtras } from './delivery.js';
import { type DurablePublishParts, publishWhatFits } from './durable-publish.js';
import { logEntry } from './log/delivery-log.js';
import type { LogWriter } from './log/log-writer.js';
import type { Kept, NextStep } from './next-step.js';
import { deadLetterOf } from './retry/dead-letters.js';
import type { Topics } from './topics.js';

export interface KeepParts extends DurablePublishParts {
  readonly log: Pick<LogWriter, 'add'>;
  readonly topics: Topics;
}

export async function keepStep(
  parts: KeepParts,
  { delivery, outcome, attempt, kept, isTold }: NextStep,
): Promise<void> {
  if (kept) await keep(parts, delivery, kept);
  if (!isTold) return;
  const due = kept?.kind === 'retry' ? kept.due : null;
  await parts.log.add('deliveries', logEntry(delivery, outcome, attempt, due));
}

/** Keeps the record as received, or without its extras if it is too large for the topic. */
function keep(parts: KeepParts, delivery: Delivery, kept: Kept): Promise<void> {
  const { topics } = parts;
  const [topic, record]: [string, (form: Delivery) => NewRecord] =
    kept.kind === 'retry'
      ? [topics.tier(kept.tier), (form) => toRetryRecord(form, kept.due)]
      : [topics.deadLetters, (form) => deadLetterOf(form, kept)];
  return publishWhatFits(parts, topic, [() => record(delivery), () => record(withoutExtras(delivery))]);
}

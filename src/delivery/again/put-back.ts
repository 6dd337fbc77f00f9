/**
 * Puts a delivery back into a tier. The record first, then the mark over the one that waits, then the log entry: a crash in
 * between may send the delivery twice, and loses nothing. Until the entry is durable, repeating it has the same turn, so that
 * a dispatcher takes both records as one step (retry/steps-once.ts).
 */
import { type Broker, RecordRefused } from '../../ports/broker.js';
import type { EndBefore } from '../../ports/delivery-order.js';
import { type Delivery, toRetryRecord, withoutExtras } from '../delivery.js';
import { logEntry } from '../log/delivery-log.js';
import { toLogRecord } from '../log/log-record.js';
import type { Delay } from '../retry/retry-schedule.js';
import type { Topics } from '../topics.js';
import { toMark } from './superseded.js';

export interface PutBackParts {
  readonly broker: Pick<Broker, 'publish'>;
  readonly topics: Pick<Topics, 'tier' | 'superseded' | 'deliveries'>;
}

interface PutBack {
  readonly tier: Delay;
  /** ms since the epoch */
  readonly due: number;
  /** The delivery's waiting records up to this turn must not go out; null: none waits. */
  readonly supersededTurn: number | null;
  readonly before?: EndBefore | undefined;
}

/** @throws BrokerUnavailable; RecordRefused: nothing was put back */
export async function putBack(
  { broker, topics }: PutBackParts,
  delivery: Delivery,
  { tier, due, supersededTurn, before }: PutBack,
): Promise<void> {
  const topic = topics.tier(tier);
  await broker.publish(topic, [toRetryRecord(delivery, due)]).catch((error: unknown) => {
    if (!(error instanceof RecordRefused)) throw error;
    return broker.publish(topic, [toRetryRecord(withoutExtras(delivery), due)]);
  });
  if (supersededTurn !== null) {
    await broker.publish(topics.superseded, [toMark({ ...delivery, turn: supersededTurn })]);
  }
  const entry = { ...logEntry(delivery, 'retrying', null, due), before };
  await broker.publish(topics.deliveries, [toLogRecord({ deliveries: [entry] })]);
}

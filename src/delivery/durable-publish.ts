/** Makes the consequence of a delivery step durable, however long the broker takes. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logger.js';
import { type Broker, BrokerRefused, type NewRecord } from '../ports/broker.js';

const PUBLISH_AGAIN_MS = 500;

export interface DurablePublishParts {
  readonly broker: Pick<Broker, 'publish'>;
  readonly logger: Logger;
  /** Aborted when the stop has no time left: records without a durable consequence are redelivered after the next start. */
  readonly abandon: AbortSignal;
  /** Called if the broker refuses our credentials or permissions: no time mends that, so the dispatcher must end. */
  readonly refused: (error: BrokerRefused) => void;
}

/**
 * An attempt was made. Losing its consequence, or repeating the attempt, would be worse than waiting for the broker.
 * @param record or what makes it for each try
 */
export async function publishUntilDurable(
  { broker, logger, abandon, refused }: DurablePublishParts,
  topic: string,
  record: NewRecord | (() => NewRecord),
): Promise<void> {
  for (;;) {
    try {
      await broker.publish(topic, [typeof record === 'function' ? record() : record]);
      return;
    } catch (error) {
      if (error instanceof BrokerRefused) refused(error);
      if (abandon.aborted || error instanceof BrokerRefused) throw error;
      logger.error({ err: error, topic }, 'publishing to the broker failed; retrying');
      await pause(PUBLISH_AGAIN_MS, abandon);
    }
  }
}

async function pause(ms: number, abandon: AbortSignal): Promise<void> {
  // Any number of records wait for the same broker. Node would warn of a leak on stderr.
  setMaxListeners(Number.POSITIVE_INFINITY, abandon);
  await delay(ms, undefined, { signal: abandon });
}

/** The tiers that exist. Processes with different schedules may share an installation, and each writes to its own tiers. */
import type { Logger } from '../../observability/logger.js';
import type { Broker } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import type { Topics } from '../topics.js';

export interface TiersParts {
  readonly broker: Pick<Broker, 'listTopics'>;
  readonly topics: Pick<Topics, 'tierOf'>;
}

/** @throws BrokerUnavailable */
export async function existingTiers({ broker, topics }: TiersParts): Promise<string[]> {
  return (await broker.listTopics()).filter((topic) => topics.tierOf(topic) !== null);
}

/**
 * Looks every so many ms for tiers that are not read: nobody else may read them, once the process that made them has ended.
 * @returns true once there are some; false after the signal. Never rejects.
 */
export async function tierAppears(
  parts: TiersParts & { readonly logger: Logger },
  read: readonly string[],
  everyMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    await sleep(everyMs, signal);
    if (signal.aborted) return false;
    const found = await existingTiers(parts).catch((err: unknown) => {
      parts.logger.warn({ err }, 'could not look for new retry tiers; retrying');
      return [];
    });
    const tiers = found.filter((topic) => !read.includes(topic));
    if (tiers.length === 0) continue;
    parts.logger.info({ tiers }, 'retry tiers of another schedule appeared: the dispatcher begins anew, to read them');
    return true;
  }
}

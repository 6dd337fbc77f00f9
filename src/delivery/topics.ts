/** Topic names. The prefix precedes the service's own names, so that two installations can share a broker. */
import type { Delay } from './retry/retry-schedule.js';

export interface Topics {
  readonly payments: readonly [string, ...string[]];
  readonly deadLetters: string;
  readonly deliveries: string;
  tier(delay: Delay): string;
  /** Whether it is a topic of this installation that only the service writes to. */
  isOwn(topic: string): boolean;
  /** Whether a topic is a tier of this installation, even one that the schedule no longer names. */
  isTier(topic: string): boolean;
}

export function topicsOf(paymentTopics: readonly [string, ...string[]], prefix: string): Topics {
  const tiers = `${prefix}webhooks.retry.`;
  const isTier = (topic: string) => topic.startsWith(tiers);
  const own = { deadLetters: `${prefix}webhooks.dead-letter`, deliveries: `${prefix}webhooks.deliveries` };
  return {
    payments: paymentTopics,
    ...own,
    tier: ({ text }) => `${tiers}${text}`,
    isTier,
    isOwn: (topic) => topic === own.deadLetters || topic === own.deliveries || isTier(topic),
  };
}

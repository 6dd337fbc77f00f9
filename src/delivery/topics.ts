/** Topic names. The prefix precedes the service's own names, so that two installations can share a broker. */
import { type Delay, delayOf } from './retry/retry-schedule.js';

export interface Topics {
  readonly payments: readonly [string, ...string[]];
  readonly deadLetters: string;
  readonly deliveries: string;
  /** The records of tiers that a resend, a recovery or a cancellation replaced: superseded.ts. */
  readonly superseded: string;
  /** Recoveries in progress. */
  readonly recoveries: string;
  /** What accounts are told about their webhooks. */
  readonly notices: string;
  tier(delay: Delay): string;
  /** Whether it is a topic of this installation that only the service writes to. */
  isOwn(topic: string): boolean;
  /** The delay of a tier of this installation, even one that this process's schedule lacks; null for any other topic. */
  tierOf(topic: string): Delay | null;
  isTier(topic: string): boolean;
}

export function topicsOf(paymentTopics: readonly [string, ...string[]], prefix: string): Topics {
  const tiers = `${prefix}webhooks.retry.`;
  const tierOf = (topic: string) => (topic.startsWith(tiers) ? delayOf(topic.slice(tiers.length)) : null);
  const own = {
    deadLetters: `${prefix}webhooks.dead-letter`,
    deliveries: `${prefix}webhooks.deliveries`,
    superseded: `${prefix}webhooks.superseded`,
    recoveries: `${prefix}webhooks.recoveries`,
    notices: `${prefix}webhooks.notices`,
  };
  const names = new Set(Object.values(own));
  return {
    payments: paymentTopics,
    ...own,
    tier: ({ text }) => `${tiers}${text}`,
    tierOf,
    isTier: (topic) => tierOf(topic) !== null,
    isOwn: (topic) => names.has(topic) || tierOf(topic) !== null,
  };
}

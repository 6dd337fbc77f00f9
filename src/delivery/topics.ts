/** Topics and consumer groups: their names, and what operators read about them. */
import { DEFERRALS, type Delay, delayOf, type Tier } from './retry/retry-schedule.js';

export type Topics = ReturnType<typeof topicsOf>;

/** The prefix precedes the service's own names, so that two installations can share a broker. */
export function topicsOf(payments: readonly [string, ...string[]], prefix: string) {
  const isOf = `${prefix}webhooks.`;
  const named = (text: string, ms: number): Tier => ({ text, ms, topic: `${isOf}${text}` });
  const retryTier = ({ text, ms }: Delay): Tier => ({ ...named(`retry.${text}`, ms), text });
  const deferredTier = ({ text, ms }: Delay) => named(`deferred.${text}`, ms);
  /** A tier of this installation, even one that this process's schedule lacks; null for any other topic. */
  const tierOf = (topic: string): Tier | null => {
    const [, kind, text = ''] = topic.startsWith(isOf) ? (TIER.exec(topic.slice(isOf.length)) ?? []) : [];
    const delay = delayOf(text);
    return delay && (kind === 'retry' ? retryTier(delay) : deferredTier(delay));
  };
  const own = {
    deadLetters: `${isOf}dead-letter`,
    deliveries: `${isOf}deliveries`,
    /** To send deliveries again, and to cancel them: again/request.ts. Of one partition, for its offsets number the chains. */
    requests: `${isOf}requests`,
    /** What accounts are told about their webhooks. */
    notices: `${isOf}notices`,
  };
  const names = Object.values(own);
  return {
    payments,
    ...own,
    /** Of a process: those of its schedule, and those of deferred deliveries, which every process has. */
    tiers: (schedule: readonly Delay[]): Tiers => ({
      retry: schedule.map(retryTier),
      deferred: DEFERRALS.map(deferredTier),
    }),
    tierOf,
    isTier: (topic: string) => tierOf(topic) !== null,
    isOrdered: (topic: string) => topic === own.requests,
    /** Whether it is a topic of this installation that only the service writes to. */
    isOwn: (topic: string) => names.includes(topic) || tierOf(topic) !== null,
  };
}

export interface Tiers {
  readonly retry: readonly Tier[];
  readonly deferred: readonly Tier[];
}

const TIER = /^(retry|deferred)\.(.+)$/;

/** Names of consumer groups, derived from the configured one. */
export const retryGroup = (group: string) => `${group}.retry`;

/** Its members take no record: the one that has the requests topic's partition runs the recoveries. */
export const recoveryGroup = (group: string) => `${group}.recoveries`;
export const noticeGroup = (group: string) => `${group}.notices`;

/** The remedy if another application is in one of the groups. */
export const OWN_GROUP =
  'give it a group.id of its own; what it commits is never delivered: see "Consumer groups" in docs/operations.md';

export const END_THE_TRANSACTION =
  'if this lasts: kafka-transactions.sh --bootstrap-server HOST:PORT find-hanging --topic TOPIC names the transaction, and abort ends it';

export const MEND_THE_LOG =
  'make another replica the leader, or delete the records up to the end of the damage (kafka-delete-records)';

/** Which topics do not, or may not, have all records of the period. */
import { DELETED, LOST } from './queries.js';
import type { CompletenessParts, Reading } from './reading.js';

export interface Lost {
  readonly kind: 'lost';
  readonly topic: string;
  readonly why: string;
}

/**
 * Topics that a group gets done go by offsets: producers stamp payments, so the time of one shows nothing about those before
 * it. Topics of evidence go by the times at which their records were written.
 * @param evidence the topics of it that were read @param isMissing whether a delivery has no answer: else only the entries matter
 */
export function lostOf(reading: Reading, evidence: readonly string[], isMissing: boolean): readonly Lost[] {
  const { period, tables, topics } = reading;
  const { deliveries: log } = topics;
  const rows = (query: string, topic: string) => [
    ...tables.scratch.rows<Lost>(query, { topic, log, from: period.from }),
  ];
  const ofTopic = (topic: string, isUnnamed: boolean) => {
    const lost = rows(LOST, topic);
    return lost.length === 0 && isUnnamed ? rows(DELETED, topic) : lost;
  };
  const ofEvidence = (isMissing ? evidence : [log]).flatMap((topic) => rows(DELETED, topic));
  // Without the entries that would name removed payments, their times show what may be missing.
  const isUnnamed = rows(DELETED, log).length > 0;
  const ofPayments = topics.payments.flatMap((topic) => ofTopic(topic, isUnnamed));
  return [...ofPayments, ...ofEvidence, ...ofTopic(topics.requests, isMissing)];
}

/** Of topics that entries name and PAYMENT_TOPICS lacks: no dispatcher reads them any more. @throws BrokerUnavailable */
export async function lostOfUnlisted(
  { broker, groups }: CompletenessParts,
  unlisted: Reading['unlisted'],
): Promise<readonly Lost[]> {
  const lost: Lost[] = [];
  for (const [topic, isOfPeriod] of unlisted) {
    const extent = await broker.extent(topic);
    const committed = await broker.committed(groups.payments, topic);
    const left = [...extent].reduce((sum, [at, { next }]) => sum + Math.max(0, next - (committed.get(at) ?? 0)), 0);
    const undone = left > 0 ? `has ${left} offsets that were not done` : isOfPeriod && 'has records of the period';
    const why = extent.size === 0 ? 'does not exist any more' : undone;
    if (why) lost.push({ kind: 'lost', topic, why: `PAYMENT_TOPICS lacks it, and it ${why}` });
  }
  return lost;
}

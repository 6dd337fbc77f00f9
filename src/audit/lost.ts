/** Which topics do not, or may not, have all records of the period. */
import * as queries from './queries.js';
import type { CompletenessParts, Reading } from './reading.js';

export interface Lost {
  readonly kind: 'lost';
  readonly topic: string;
  readonly why: string;
}

/**
 * Topics that a group gets done go by offsets: producers stamp payments, so the time of one shows nothing about those before
 * it. Topics of evidence go by the times at which their records were written.
 * @param evidence read topics, that of the entries first @param isMissing whether a delivery has no answer: the gaps of the others don't matter otherwise
 */
export function lostOf(reading: Reading, evidence: readonly string[], isMissing: boolean): readonly Lost[] {
  const { topics } = reading;
  const ofEvidence = (isMissing ? evidence : [topics.deliveries]).flatMap((topic) => deleted(reading, topic));
  // Without the entries that would name removed payments, their times show what may be missing.
  const isUnnamed = deleted(reading, topics.deliveries).length > 0;
  const ofTopic = (topic: string, isUnknown: boolean) => {
    const lost = lostRecords(reading, topic);
    return lost.length === 0 && isUnknown ? deleted(reading, topic) : lost;
  };
  const ofPayments = topics.payments.flatMap((topic) => ofTopic(topic, isUnnamed));
  return [...ofPayments, ...ofEvidence, ...ofTopic(topics.requests, isMissing)];
}

function lostRecords({ tables, topics }: Reading, topic: string): readonly Lost[] {
  const { scratch } = tables;
  const removed = scratch.rows<{ partition: number; start: number; first: number }>(queries.REMOVED, {
    topic,
    log: topics.deliveries,
  });
  const is = (query: string, why: string) => (scratch.row(query, { topic }) ? [why] : []);
  const whys = [
    ...[...removed].map(({ partition, start, first }) => {
      return `offsets ${start} to ${first - 1} of partition ${partition} were removed before they were done`;
    }),
    ...is(queries.RECREATED, 'it was recreated or truncated'),
    ...is(queries.GONE, 'entries name records of the period that it does not have'),
  ];
  return whys.map((why) => ({ kind: 'lost', topic, why }));
}

/** By the time of its oldest record. */
function deleted({ tables, period }: Reading, topic: string): readonly Lost[] {
  const found = tables.scratch.row<{ since: number }>(queries.DELETED, { topic, from: period.from });
  if (!found) return [];
  const which = Number.isFinite(found.since)
    ? `from before ${new Date(found.since).toISOString()}`
    : 'some or all of them';
  return [{ kind: 'lost', topic, why: `records were deleted: ${which}` }];
}

/** Of a topic that PAYMENT_TOPICS lacks: no dispatcher reads it any more. */
export async function lostOfUnlisted(
  { broker, groups }: CompletenessParts,
  topic: string,
  isOfPeriod: boolean,
): Promise<readonly Lost[]> {
  const extent = await broker.extent(topic);
  const committed = await broker.committed(groups.payments, topic);
  const left = [...extent].reduce((sum, [at, { next }]) => sum + Math.max(0, next - (committed.get(at) ?? 0)), 0);
  const lost = (why: string): Lost[] => [{ kind: 'lost', topic, why: `PAYMENT_TOPICS lacks it, and it ${why}` }];
  if (extent.size === 0) return lost('does not exist any more');
  if (left > 0) return lost(`has ${left} offsets that were not done`);
  return isOfPeriod ? lost('has records of the period') : [];
}

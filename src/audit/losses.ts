/** Which topics do not, or may not, have all records of the period. */
import type { Extent } from '../ports/broker.js';
import { accountStream } from '../webhooks/events.js';
import type { Lost, ReadTopic } from './read-topic.js';
import type { Reading } from './reading.js';

/** @throws BrokerUnavailable */
export async function lostOf(reading: Reading, evidence: readonly ReadTopic[]): Promise<readonly Lost[]> {
  const { broker, committed, histories, period, payments, starts, unlisted } = reading;
  const ofEvidence: Lost[] = [];
  for (const topic of evidence) {
    const extent = await broker.extent(topic.name);
    const found = topic.lost({ extent, committed: committed.of(topic.name) }, period.from);
    if (found) ofEvidence.push(found);
    else if (topic.name === reading.topics.deliveries) ofEvidence.push(...withoutStarts(reading, extent));
  }
  const lost: Lost[] = [...starts.lost, ...[...histories.hidden].map(hidden)];
  const unnamedFrom = ofEvidence.some(({ topic }) => topic === reading.topics.deliveries) ? period.from : null;
  for (const topic of payments.values()) {
    const found = { extent: await broker.extent(topic.name), committed: committed.of(topic.name) };
    lost.push(...topic.lost(found, unnamedFrom));
  }
  for (const [topic, isOfPeriod] of unlisted) lost.push(...(await lostOfUnlisted(reading, topic, isOfPeriod)));
  return [...lost, ...ofEvidence];
}

function hidden([accountId, why]: readonly [number, string]): Lost {
  const topic = accountStream(accountId);
  return { kind: 'lost', topic, why: `${why}: which webhooks of the account were active can not be judged` };
}

/**
 * A start entry is durable before its partition has a committed offset. It may expire like any other entry, but is there as
 * long as the topic has its first records.
 */
function withoutStarts({ committed, payments, starts, topics }: Reading, extent: ReadonlyMap<number, Extent>): Lost[] {
  if ([...extent.values()].some(({ first }) => first > 0)) return [];
  const partitions = [...payments.keys()].flatMap((topic) => {
    return [...committed.of(topic).keys()].map((partition) => ({ topic, partition }));
  });
  const [one] = partitions.filter((partition) => !starts.has(partition));
  if (!one) return [];
  const what = `the start of partition ${one.partition} of ${one.topic}`;
  const why = `it does not have ${what}: it was recreated, or the offset was set by hand`;
  return [{ kind: 'lost', topic: topics.deliveries, why }];
}

/** Of a topic that PAYMENT_TOPICS lacks: no dispatcher reads it any more. */
async function lostOfUnlisted({ broker, groups }: Reading, topic: string, isOfPeriod: boolean): Promise<Lost[]> {
  const extent = await broker.extent(topic);
  const committed = await broker.committed(groups.payments, topic);
  const left = [...extent].reduce((sum, [at, { next }]) => sum + Math.max(0, next - (committed.get(at) ?? 0)), 0);
  const why =
    extent.size === 0 ? 'does not exist any more' : left > 0 ? `has ${left} offsets that were not done` : null;
  if (why !== null) return [{ kind: 'lost', topic, why: `PAYMENT_TOPICS lacks it, and it ${why}` }];
  return isOfPeriod ? [{ kind: 'lost', topic, why: 'PAYMENT_TOPICS lacks it, and it has records of the period' }] : [];
}

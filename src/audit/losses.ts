/** Which topics do not, or may not, have all records of the period. */

import { partitionText } from '../delivery/record-place.js';
import type { Extent, PartitionStart, ReceivedRecord } from '../ports/broker.js';
import { accountStream } from '../webhooks/events.js';
import { type Lost, type ReadTopic, removed } from './read-topic.js';
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

type Where = Pick<ReceivedRecord, 'topic' | 'partition' | 'offset'>;

interface Begun {
  readonly starts: PartitionStart[];
  readonly routed: Offsets;
}

export class Starts {
  readonly #partitions = new Map<string, Begun>();

  started(start: PartitionStart): void {
    this.#of(start).starts.push(start);
  }

  routed(where: Where): void {
    this.#of(where).routed.add(where.offset);
  }

  has(where: Pick<Where, 'topic' | 'partition'>): boolean {
    return (this.#partitions.get(partitionText(where))?.starts.length ?? 0) > 0;
  }

  /** Each once: a crash before the first commit repeats a start. */
  get lost(): readonly Lost[] {
    const all = [...this.#partitions.values()].flatMap((begun) =>
      begun.starts.flatMap((start) => leftBehind(start, begun) ?? []),
    );
    return [...new Map(all.map((lost) => [`${lost.topic} ${lost.why}`, lost])).values()];
  }

  #of(where: Pick<Where, 'topic' | 'partition'>): Begun {
    const key = partitionText(where);
    const begun = this.#partitions.get(key) ?? { starts: [], routed: new Offsets() };
    this.#partitions.set(key, begun);
    return begun;
  }
}

/** Entries may come in any order, so a start is compared with what was begun and routed before its offset. */
function leftBehind({ topic, partition, expected, offset }: PartitionStart, { starts, routed }: Begun): Lost | null {
  if (expected !== null && expected > offset) {
    const why = `partition ${partition} was recreated or truncated when its group had come to offset ${expected}`;
    return { kind: 'lost', topic, why };
  }
  // Kafka forgets the offsets of a group that was away for a week.
  const before = starts.map((start) => start.offset).filter((other) => other < offset);
  const reached = Math.max(routed.endBefore(offset) ?? -1, ...before);
  const from = expected ?? (reached < 0 ? offset : reached);
  return from < offset ? removed({ topic, partition }, { from, to: offset }) : null;
}

/** Any number of offsets, most of them in runs. */
class Offsets {
  /** Each run by its end, exclusive, and by its first offset. A repeated offset may add a run within another. */
  readonly #firstOf = new Map<number, number>();
  readonly #endOf = new Map<number, number>();

  add(offset: number): void {
    const first = this.#firstOf.get(offset) ?? offset;
    const end = this.#endOf.get(offset + 1) ?? offset + 1;
    this.#firstOf.delete(offset);
    this.#endOf.delete(offset + 1);
    this.#firstOf.set(end, first);
    // A repeated offset may be the first of a longer run.
    this.#endOf.set(first, Math.max(end, this.#endOf.get(first) ?? end));
  }

  /** The end of what is before the limit; null if there is nothing. */
  endBefore(limit: number): number | null {
    const ends = [...this.#endOf].filter(([first]) => first < limit).map(([, end]) => Math.min(end, limit));
    return ends.length > 0 ? ends.reduce((one, other) => Math.max(one, other)) : null;
  }
}

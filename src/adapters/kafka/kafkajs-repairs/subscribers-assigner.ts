/**
 * Assigns each partition to the subscriber of its topic with the fewest partitions so far. The kafkajs assigner knows only
 * the leader's topics, which differ while RETRY_SCHEDULE is changed in one process after the other.
 */
import kafkajs, { type Cluster, type GroupMember, type PartitionAssigner } from 'kafkajs';
import { PROTOCOL } from '../foreign-members.js';

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;
const VERSION = 0;
const NO_DATA = Buffer.alloc(0);

/**
 * @param partitionsOf of a topic that only other members subscribe to, unknown to the leader's client; none if it is gone
 * @param divided called with the ids of all members of the group
 * @param opened called with the client's cluster, which kafkajs passes only to an assigner
 */
export function subscribersAssigner(
  partitionsOf: (topic: string) => Promise<number[]>,
  { divided }: { divided(memberIds: readonly string[]): void } = { divided: () => undefined },
  opened: (cluster: Cluster) => void = () => undefined,
): PartitionAssigner {
  return ({ cluster }) => {
    opened(cluster);
    return {
      name: PROTOCOL,
      version: VERSION,
      async assign({ members, topics: own }) {
        divided(members.map(({ memberId }) => memberId));
        const subscribers = subscribersByTopic(members);
        const partitions = new Map<string, readonly number[]>();
        for (const topic of subscribers.keys()) {
          const known = cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
          partitions.set(topic, own.includes(topic) ? known : await partitionsOf(topic));
        }
        return [...assigned(subscribers, partitions)].map(([memberId, assignment]) => ({
          memberId,
          memberAssignment: MemberAssignment.encode({ version: VERSION, assignment, userData: NO_DATA }),
        }));
      },
      protocol({ topics }) {
        const metadata = MemberMetadata.encode({ version: VERSION, topics, userData: NO_DATA });
        return { name: this.name, metadata };
      },
    };
  };
}

/** By member, its partitions by topic. Deterministic: the same members and topics give the same assignment, in any order. */
export function assigned(
  subscribers: ReadonlyMap<string, readonly string[]>,
  partitions: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, Readonly<Record<string, number[]>>> {
  const assignments = new Map<string, Record<string, number[]>>();
  const counts = new Map<string, number>();
  const countOf = (member: string) => counts.get(member) ?? 0;
  for (const [topic, members] of [...subscribers].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const sorted = [...members].sort();
    for (const partition of [...(partitions.get(topic) ?? [])].sort((a, b) => a - b)) {
      const member = sorted.reduce((least, other) => (countOf(other) < countOf(least) ? other : least));
      counts.set(member, countOf(member) + 1);
      const assignment = assignments.get(member) ?? {};
      assignments.set(member, assignment);
      assignment[topic] = [...(assignment[topic] ?? []), partition];
    }
  }
  return assignments;
}

function subscribersByTopic(members: readonly GroupMember[]): Map<string, string[]> {
  const subscribers = new Map<string, string[]>();
  for (const { memberId, memberMetadata } of members) {
    for (const topic of MemberMetadata.decode(memberMetadata)?.topics ?? []) {
      subscribers.set(topic, [...(subscribers.get(topic) ?? []), memberId]);
    }
  }
  return subscribers;
}

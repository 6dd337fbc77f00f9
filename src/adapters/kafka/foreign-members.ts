/**
 * Other applications in a consumer group of the service. Kafka gives them some of its partitions, and what they commit is never
 * delivered.
 */
import kafkajs, { type GroupDescription } from 'kafkajs';

const { MemberMetadata } = kafkajs.AssignerProtocol;

export const CLIENT_ID = 'account-webhooks';
export const PROTOCOL = 'account-webhooks-subscribers';

/** Kafka 4 converts a group if one member uses it. The other members continue, and are told no leader. */
export const NEW_PROTOCOL = 'by the protocol of KIP-848';
export const OTHER_PROTOCOL = 'by another protocol: INCONSISTENT_GROUP_PROTOCOL';

export const describeForeign = (group: string, who: string) =>
  `another application is in the consumer group ${group} (${who})`;

/** Kafka makes a member's id of its client's id. */
export const isForeign = (memberId: string) => !memberId.startsWith(`${CLIENT_ID}-`);

/** A sentence for each. @param hasOffsets whether the group has committed any offset */
export function findForeignMembers(group: GroupDescription, hasOffsets: boolean): string[] {
  const { groupId, state, protocol, members } = group;
  // A client that does not know the group's protocol gets a group with offsets described as dead.
  if (state === 'Dead' && hasOffsets) return [describeForeign(groupId, NEW_PROTOCOL)];
  const hasOtherProtocol = protocol !== '' && protocol !== PROTOCOL;
  return members
    .filter(({ clientId }) => hasOtherProtocol || clientId !== CLIENT_ID)
    .map(({ clientId, clientHost }) => describeForeign(groupId, `${clientId} at ${clientHost}`));
}

/** Topics that its members subscribe to; null while they join, because Kafka does not know them then. */
export function readSubscriptions({ state, members }: GroupDescription): ReadonlySet<string> | null {
  if (state !== 'Stable' && members.length > 0) return null;
  return new Set(members.flatMap(({ memberMetadata }) => MemberMetadata.decode(memberMetadata)?.topics ?? []));
}

/** A group is the service's alone: what another application commits in it is never delivered. */
import type { Admin, GroupDescription } from 'kafkajs';
import { MARK } from '../common/done-behind.js';

type FetchedOffsets = Awaited<ReturnType<Admin['fetchOffsets']>>;

export const CLIENT_ID = 'account-webhooks';
export const PROTOCOL = 'account-webhooks-subscribers';
/** Kafka 4 converts a group in which one member uses it. To the others, who all go on, it names no leader. */
export const NEW_PROTOCOL = 'by the protocol of KIP-848';

export const joinedBy = (group: string, who: string) =>
  `another application is in the consumer group ${group} (${who})`;

export function committedBy(group: string, topic: string, partitions: readonly number[]): string {
  const places = partitions.map((partition) => `${topic}/${partition}`).join(', ');
  return `the offset of the consumer group ${group} in ${places} was not committed by this service`;
}

/** Each own commit has the mark, even if nothing is done behind it. */
export const isOwnCommit = (metadata: string | null) => metadata?.startsWith(MARK) === true;

/** @param offsets of existing topics */
export function foreignUse({ groupId, state, protocol, members }: GroupDescription, offsets: FetchedOffsets): string[] {
  const committed = offsets.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.filter(({ offset }) => Number(offset) >= 0),
  }));
  // A group with offsets is described as dead to a client that does not know its protocol.
  const isConverted = state === 'Dead' && committed.some(({ partitions }) => partitions.length > 0);
  const strangers = members.filter(({ clientId }) => clientId !== CLIENT_ID || (protocol && protocol !== PROTOCOL));
  const foreign = committed.map(({ topic, partitions }) => ({
    topic,
    of: partitions.filter(({ metadata }) => !isOwnCommit(metadata)).map(({ partition }) => partition),
  }));
  return [
    ...(isConverted ? [joinedBy(groupId, NEW_PROTOCOL)] : []),
    ...strangers.map(({ clientId, clientHost }) => joinedBy(groupId, `${clientId} at ${clientHost}`)),
    ...foreign.flatMap(({ topic, of }) => (of.length > 0 ? [committedBy(groupId, topic, of)] : [])),
  ];
}

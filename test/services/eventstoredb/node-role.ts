/** The role of a server in its cluster, and what it refuses in that role. */
import { type Metadata, status } from '@grpc/grpc-js';
import { type Context, type Endpoint, type Member, notReady, RpcError } from './calls.js';
import type { StoredData } from './stored-data.js';

export type NodeRole =
  | { readonly kind: 'leader' }
  /** Perhaps of the last leader that it knew: it may reach none. */
  | { readonly kind: 'follower'; readonly leader: Endpoint }
  /** It knows of no leader, or was the leader and lost its majority. */
  | { readonly kind: 'leaderless' };

/** A cluster, as its members see it; each is known by its port. */
export interface Seat {
  members(port: number): readonly Member[];
  nodeRole(port: number): NodeRole;
  /** The log as far as it has reached this member. */
  data(port: number): StoredData;
}

function isLeaderRequired(metadata: Metadata): boolean {
  return metadata.get('requires-leader')[0] === 'true';
}

/** @throws RpcError; a read that doesn't require the leader is answered by every member, from the log it has */
export function mayRead(role: NodeRole, metadata: Metadata): void {
  if (!isLeaderRequired(metadata)) return;
  switch (role.kind) {
    case 'leader':
      return;
    case 'follower':
      throw notLeader(role.leader);
    case 'leaderless':
      throw notReady();
    default:
      throw role satisfies never;
  }
}

/** Every writer of the tests requires the leader, so that none forwards. @throws RpcError, and what `write` throws */
export async function writing(context: Context, metadata: Metadata, write: () => void): Promise<void> {
  const role = context.nodeRole();
  if (context.faults.isNotReady || role.kind === 'leaderless') throw notReady();
  mayRead(role, metadata);
  write();
}

function notLeader({ host, port }: Endpoint): RpcError {
  return new RpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': `${port}`,
  });
}

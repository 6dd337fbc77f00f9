/** The role of a server in its cluster, and what it refuses in that role. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Metadata, status } from '@grpc/grpc-js';
import { type Context, type Endpoint, type Member, notReady, RpcError } from './calls.js';
import type { StoredData } from './stored-data.js';

export type NodeRole =
  | { readonly kind: 'leader' }
  /** It forwards what is to be written. */
  | { readonly kind: 'follower'; readonly leader: Endpoint }
  /** It reaches no leader: this is the last one it knew. */
  | { readonly kind: 'cut-off'; readonly leader: Endpoint }
  /** It knows of no leader, or was the leader and lost its majority. */
  | { readonly kind: 'leaderless' };

/** A cluster, as its members see it; each is known by its port. */
export interface Seat {
  members(port: number): readonly Member[];
  nodeRole(port: number): NodeRole;
  /** The log as far as it has reached this member. */
  data(port: number): StoredData;
}

/** As a real server's, from its time limits for prepares and commits. */
const FORWARDING_TIMEOUT_MS = 4_300;

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
    case 'cut-off':
      throw notLeader(role.leader);
    case 'leaderless':
      throw notReady();
    default:
      throw role satisfies never;
  }
}

/**
 * Writes here or, as if it were forwarded, at the leader: at once, so that what came first is written first.
 * @throws RpcError, and what `write` throws
 */
export async function writing(context: Context, metadata: Metadata, gone: AbortSignal, write: () => void) {
  const { faults } = context;
  const role = context.nodeRole();
  if (faults.isNotReady || role.kind === 'leaderless') throw notReady();
  mayRead(role, metadata);
  if (role.kind !== 'cut-off') return write();
  await delay(FORWARDING_TIMEOUT_MS, undefined, { signal: gone });
  throw new RpcError(status.ABORTED, 'Operation timed out: Forwarding timeout');
}

function notLeader({ host, port }: Endpoint): RpcError {
  return new RpcError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': host,
    'leader-endpoint-port': `${port}`,
  });
}

/** What the handlers of all services share. */
import { once } from 'node:events';
import { Metadata, type ServerWritableStream, type StatusObject, status } from '@grpc/grpc-js';
import type { Access } from './access.js';
import type { Faults } from './faults.js';
import type { NodeRole } from './node-role.js';
import type { ServerVersion } from './own-server.js';
import type { StoredData } from './stored-data.js';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** As gossip tells of it. */
export interface Member extends Endpoint {
  readonly id: string;
  readonly isAlive: boolean;
  readonly state: 'leader' | 'follower' | 'unknown';
}

export interface Context {
  readonly version: ServerVersion;
  /** Not to be kept: a member of a cluster may be cut off from the log of the others. */
  readonly data: StoredData;
  readonly faults: Faults;
  readonly access: Access;
  /** Breaks the connection with this peer. */
  cut(peer: string): void;
  /** Those of its cluster, itself among them. */
  members(): readonly Member[];
  isLeader(): boolean;
  nodeRole(): NodeRole;
  /** --run-projections. */
  readonly runsProjections: RunProjections;
}

export type RunProjections = 'all' | 'system' | 'none';

/** What a handler throws to end a call with an error. */
export class RpcError extends Error implements Partial<StatusObject> {
  readonly metadata = new Metadata();
  /** @param exception the name in the trailer by which the client makes its own kinds of errors */
  constructor(
    readonly code: status,
    readonly details: string,
    exception: Readonly<Record<string, string>> = {},
  ) {
    super(details);
    for (const [name, value] of Object.entries(exception)) this.metadata.set(name, value);
  }
}

export function notReady(): RpcError {
  return new RpcError(status.UNAVAILABLE, 'Server Is Not Ready');
}

export function streamDeleted(stream: string): RpcError {
  return new RpcError(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
}

export function accessDenied(): RpcError {
  return new RpcError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
}

interface Cancellable {
  readonly cancelled: boolean;
  on(event: 'cancelled', listener: () => void): unknown;
}

/** Aborts when the client goes away. */
export function goneWith(call: Cancellable): AbortSignal {
  const gone = new AbortController();
  call.on('cancelled', () => gone.abort());
  if (call.cancelled) gone.abort();
  return gone.signal;
}

/** Writes as fast as the client reads. */
export async function send<T>(call: ServerWritableStream<unknown, T>, message: T, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (!call.write(message)) await once(call, 'drain', { signal });
}

/** Runs what answers a stream call. Ends the call when it is done, or with what it threw. */
export async function answering(
  call: ServerWritableStream<unknown, unknown>,
  gone: AbortSignal,
  answer: () => Promise<void>,
): Promise<void> {
  try {
    await answer();
    call.end();
  } catch (error) {
    if (!gone.aborted) call.emit('error', error);
  }
}

export function forEver(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

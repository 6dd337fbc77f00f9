/**
 * What a process may hold in memory for its deliveries and their endpoints. Fixed numbers would be too few for an installation with
 * many receivers, and too many for a small container.
 */
import { totalmem } from 'node:os';
import { constrainedMemory } from 'node:process';

/** Of the cgroup's limit, or of the machine's memory. */
const OF_MEMORY = 1 / 4;
const KIB = 1024;
/**
 * Shares, and bytes each. Measured on Node.js 20: a client of undici with its TLS socket 39 to 52 KiB, a pace with its key 648 bytes, a
 * session 770 bytes, and more with a longer chain of certificates.
 */
const IDLE_CONNECTIONS = { share: 10 / 16, bytes: 50 * KIB };
const ENDPOINTS = { share: 3 / 16, bytes: 0.75 * KIB };
const TLS_SESSIONS = { share: 1 / 16, bytes: 2 * KIB };
const WAITING_SHARE = 2 / 16;

export interface DeliveryMemory {
  readonly bytes: number;
  readonly idleConnections: number;
  readonly tlsSessions: number;
  /** Idle ones whose pace is remembered, and as many of which failures are. */
  readonly endpoints: number;
  /** Of payloads of deliveries that wait for their endpoints. */
  readonly waitingBytes: number;
}

/** @param limit DELIVERY_MEMORY @param available bytes that the process may use */
export function deliveryMemory(limit: number, available = availableMemory()): DeliveryMemory {
  const bytes = Math.min(limit, Math.floor(OF_MEMORY * available));
  const fitting = ({ share, bytes: each }: { share: number; bytes: number }) => Math.floor((share * bytes) / each);
  return {
    bytes,
    idleConnections: fitting(IDLE_CONNECTIONS),
    tlsSessions: fitting(TLS_SESSIONS),
    endpoints: fitting(ENDPOINTS),
    waitingBytes: WAITING_SHARE * bytes,
  };
}

/** If the process has no limit, Node.js returns 0 or more than the machine has. */
function availableMemory(): number {
  return Math.min(totalmem(), constrainedMemory() || Number.POSITIVE_INFINITY);
}

/**
 * How many deliveries may wait in the line of an endpoint. Quick ones may take a burst, and so may new ones, of which nothing
 * is known. A slow one that takes deliveries may have what it takes within a minute; every other one only what it takes before
 * a delivery would come back from the first tier.
 */
import type { Endpoint } from './gate-endpoint.js';

/** A burst of 1,000 events goes to no tier. */
const BURST = 1_000;
const MOST = 2_000;
const PATIENT_MS = 60_000;
/**
 * In all lines, well below what the dispatcher has in flight. From there on an endpoint has only what it takes soon and, if
 * it is not swift, its share of this.
 */
const MUCH = 7_500;

/** Events may have 256 KiB each: the same in bytes, for events of 16 KiB. */
const MOST_BYTES = 16 * 1024 * 1024;
const MUCH_BYTES = 32 * 1024 * 1024;

export interface AllLines {
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly lines: number;
}

/** @param withinMs the delay of the first tier */
export function roomOf(endpoint: Endpoint, { waiting, lines }: AllLines, withinMs: number): number {
  const { pace, underWay } = endpoint;
  // Of those that the endpoint takes soon some are under way. One that has none under way may always have one.
  const soon = Math.min(MOST, Math.max(pace.takesWithin(withinMs) - underWay, underWay === 0 ? 1 : 0));
  const isNew = pace.trust === 'new' && endpoint.old === 0;
  if (isNew) return waiting < MUCH ? BURST : Math.ceil(MUCH / lines);
  if (waiting < MUCH) {
    if (pace.isQuick) return Math.max(BURST, soon);
    return pace.isTaking ? Math.max(soon, Math.min(BURST, pace.takesWithin(PATIENT_MS))) : soon;
  }
  return pace.trust === 'proven' && pace.isSwift ? soon : Math.min(soon, Math.ceil(MUCH / lines));
}

export function hasRoom(endpoint: Endpoint, all: AllLines, withinMs: number): boolean {
  const { waitingBytes, lines } = all;
  const mostBytes = waitingBytes < MUCH_BYTES ? MOST_BYTES : Math.min(MOST_BYTES, MUCH_BYTES / lines);
  return endpoint.line.length < roomOf(endpoint, all, withinMs) && endpoint.bytes < mostBytes;
}

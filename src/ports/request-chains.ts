/**
 * The latest chain of each requested delivery, and the position up to which the requests topic was read: what a dispatcher has to
 * know in order not to send what was cancelled or resent. A file in DATA_DIR, because a 202 depends on it.
 *
 * Semantics that every adapter keeps:
 * - The file belongs to one process at a time, is local, and responds synchronously.
 * - add stores chains and position in one transaction: after a crash all are old or all are new.
 * - The file can be lost at any time: its user reads the topic again from its start.
 * - Of two chains of a delivery, the later one is stored, in whatever order they are added.
 * - A delivery that no request can name costs no read of the file.
 */
import type { Position } from './broker.js';

export interface RequestedChain {
  /** The webhook-id. */
  readonly delivery: string;
  /** The record position of the payment, as topic/partition/offset@ms; null: unknown. A second publication is another delivery. */
  readonly payment: string | null;
  readonly chain: number;
  /** When the request was published, ms since the epoch. */
  readonly at: number;
}

/** Every method throws RequestChainsDamaged, or RequestChainsUnusable. */
export interface RequestChains {
  /** Empties the file unless it was read from this topic. @param origin identifies the topic, and the history that it belongs to */
  open(origin: string): void;
  /** Up to where the topic was read; null: not at all. */
  readonly position: Position | null;
  /** 0: none was requested. */
  latest(delivery: string, payment: string | null): number;
  /** @param position null: as it was */
  add(chains: readonly RequestedChain[], position: Position | null): void;
  /** The lowest chain; null: there is none. */
  readonly lowest: number | null;
  /** Deletes up to `limit` chains, the lowest first, up to `chain`, requested before `at`. @returns how many */
  prune(limit: number, upTo: { readonly chain: number; readonly at: number }): number;
  /** Deletes everything. The remedy for damage. */
  clear(): void;
  /** Why the file can't be used, naming it; null since the last write. */
  readonly trouble: string | null;
  close(): void;
}

/** Clear it, and read the topic again. */
export class RequestChainsDamaged extends Error {
  override readonly name = 'RequestChainsDamaged';
  readonly code = 'REQUEST_CHAINS_DAMAGED';
}

/** The disk is full, or does not work; the message names the file and the cause. */
export class RequestChainsUnusable extends Error {
  override readonly name = 'RequestChainsUnusable';
  readonly code = 'REQUEST_CHAINS_UNUSABLE';
}

/**
 * The view of the deliveries topic: the result of each delivery, stored for queries by webhook. The topic is the source of
 * truth: a view may be lost at any time, and is then refilled from the topic's beginning.
 *
 * Words: a *delivery* is the combined result of the *entries* that share its account, webhook, payment's time and id. So an
 * event that was published twice has two deliveries with one id.
 *
 * Semantics that every adapter keeps (test/contract/deliveries-view-contract.ts):
 * - A view belongs to one process at a time, is local, and answers synchronously.
 * - add stores its entries in one transaction: all of them or, if it throws, none. They survive the process, however it
 *   ends; after a machine crash either everything added before is there, or the next view is a new one.
 * - Adding an entry is idempotent. An attempt is identified by its content: one that occurs twice in the topic, as after an
 *   outage of the broker, is shown once.
 * - Entries may come in any order. A delivery's attempts are sorted by start; its outcome comes from the entry that outranks
 *   all others (delivery-order.ts).
 * - page returns deliveries newest first, by their payment's time, then by id. The delivery that `before` names need not
 *   exist: a page continues at the same place whatever was added since, and in a refilled view too.
 * - A call of page looks at a bounded number of deliveries: if few of them are asked for, a page with a `next` may have less
 *   than `limit`, or none.
 * - forget deletes deliveries whose last entry is older than the given time, oldest first, some at a time.
 * - A method that finds the view damaged throws ViewUnsound, and so does adding an entry at a place where another entry was
 *   (the topic was recreated; a sample of the places is stored): the view is unusable from then on.
 * - discard closes the view; the next open creates a new one. close is idempotent.
 */
import type { Outcome } from './delivery-order.js';

export interface DeliveriesView {
  /** Drawn at random for each new view: its user stores progress under this id. */
  readonly id: string;
  /** @throws ViewUnsound; an error of the disk */
  add(entries: readonly ViewEntry[]): void;
  /** @throws ViewUnsound */
  page(query: DeliveriesQuery): DeliveriesPage;
  /** @param before ms since the epoch @throws ViewUnsound; an error of the disk */
  forget(before: number): void;
  /** @throws an error of the disk */
  discard(): void;
  close(): void;
}

export interface ViewAttempt {
  /** Start of the attempt; ISO 8601, UTC, ms. */
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  /** Of an error: its cause, as a code, or null. */
  readonly reason?: string | null;
  readonly durationMs: number;
  /** The webhook's version. */
  readonly version: number;
}

/** The last attempt's status, by its first digit. none: no status came, or no attempt was made yet. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof STATUS_CLASSES)[number];

/** An entry's place in the topic. */
export interface EntryPlace {
  readonly partition: number;
  readonly offset: number;
  /** Publication time, ms since the epoch. */
  readonly timestamp: number;
}

interface DeliveryState {
  /** ASCII. */
  readonly id: string;
  readonly webhookId: number;
  readonly eventId: string;
  readonly eventType: string;
  /** When the payment was published, ms since the epoch: the same in each entry of a delivery. 0: its record has no time. */
  readonly firstAt: number;
  readonly outcome: Outcome;
  /** ISO 8601 */
  readonly nextAttemptAt: string | null;
}

export interface ViewEntry extends DeliveryState {
  readonly accountId: number;
  readonly turn: number;
  readonly attempt: ViewAttempt | null;
  readonly place: EntryPlace;
}

export interface ViewedDelivery extends DeliveryState {
  readonly attempts: readonly ViewAttempt[];
}

/** Null is any. */
export interface DeliveriesQuery {
  readonly accountId: number;
  readonly webhookId: number | null;
  readonly limit: number;
  /** Where the previous page ended; null is the newest. */
  readonly before: DeliveryPlace | null;
  readonly outcome: Outcome | null;
  readonly eventType: string | null;
  readonly eventId: string | null;
  readonly status: StatusClass | null;
  /** One of these is the last attempt's error. */
  readonly errors: readonly string[] | null;
  /** Of firstAt: from is inclusive, to is exclusive. Null is no bound. */
  readonly from: number | null;
  readonly to: number | null;
}

/** A delivery's place in the order of pages. */
export interface DeliveryPlace {
  readonly firstAt: number;
  readonly id: string;
}

export interface DeliveriesPage {
  readonly deliveries: readonly ViewedDelivery[];
  /** Null if there are no more. */
  readonly next: DeliveryPlace | null;
}

/** The view must be discarded. */
export class ViewUnsound extends Error {
  override readonly name = 'ViewUnsound';
  readonly code = 'VIEW_UNSOUND';
}

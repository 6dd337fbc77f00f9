/**
 * The view of the deliveries topic: what became of each delivery, kept so that it can be asked for by webhook. The topic
 * is the truth: a view can be lost at any time, and is filled again from the topic's beginning.
 *
 * Words: an *entry* is a record of the topic; a *delivery* is what its entries, which share an id, come to.
 *
 * Semantics that every adapter keeps (test/contract/deliveries-view-contract.ts):
 * - It belongs to one process at a time, is local, and answers synchronously.
 * - add stores its entries in one transaction: all of them or, where it throws, none. They outlive the process, however
 *   it ends; where the machine goes down, all that was added before is there, or the next view is a new one.
 * - An entry that is added again changes nothing. An attempt is known by what is told of it: one that stands twice in the
 *   topic, which a broker out of reach brings about, is shown once.
 * - Entries may come in any order. A delivery's attempts are in the order in which they began; its outcome is what the
 *   entry says that outranks all others (delivery-order.ts).
 * - page gives deliveries newest first, by the time of their first entry, then by id. What `before` names need not be
 *   there: a page goes on at the same place whatever has come since, and in a view that was filled anew.
 * - forget lets go of deliveries whose last entry is older than that, oldest first, some at a time.
 * - A method that finds the view damaged, or add of an entry to a place where another entry has been (the topic was made
 *   anew; a sample of the places is remembered), throws ViewUnsound: it is of no use any more.
 * - discard closes it, and what is opened next is a new view. close may be called twice.
 */
import type { Outcome } from './delivery-order.js';

export interface DeliveriesView {
  /** Drawn at random when the view was new: whoever fills it keeps, under this name, how far it has come. */
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
  /** When it began; ISO 8601, UTC, ms. */
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  /** The webhook's. */
  readonly version: number;
}

/** Where an entry stands in the topic. */
export interface EntryPlace {
  readonly partition: number;
  readonly offset: number;
  /** When it was published, ms since the epoch. */
  readonly timestamp: number;
}

interface DeliveryState {
  /** ASCII. */
  readonly id: string;
  readonly eventId: string;
  readonly outcome: Outcome;
  /** ISO 8601 */
  readonly nextAttemptAt: string | null;
}

export interface ViewEntry extends DeliveryState {
  readonly accountId: number;
  readonly webhookId: number;
  readonly turn: number;
  readonly attempt: ViewAttempt | null;
  readonly place: EntryPlace;
}

export interface ViewedDelivery extends DeliveryState {
  readonly attempts: readonly ViewAttempt[];
}

export interface DeliveriesQuery {
  readonly accountId: number;
  readonly webhookId: number;
  readonly limit: number;
  /** Where the page before ended; null is the newest. */
  readonly before: DeliveryPlace | null;
  /** Null is any. */
  readonly outcome: Outcome | null;
  /** Of the first entry, ms since the epoch: from is included, to is not. Null is no bound. */
  readonly from: number | null;
  readonly to: number | null;
}

/** A delivery's place in the order of pages. */
export interface DeliveryPlace {
  /** When its first entry was published, ms since the epoch. */
  readonly firstAt: number;
  readonly id: string;
}

export interface DeliveriesPage {
  readonly deliveries: readonly ViewedDelivery[];
  /** Null where there are no more. */
  readonly next: DeliveryPlace | null;
}

/** It has to be discarded. */
export class ViewUnsound extends Error {
  override readonly name = 'ViewUnsound';
  readonly code = 'VIEW_UNSOUND';
}

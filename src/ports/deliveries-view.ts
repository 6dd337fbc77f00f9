/**
 * The view of the deliveries topic and the requests topic: the result of each delivery, stored for queries by account. The
 * topics are the source of truth: a view may be lost at any time, and is then refilled from their beginnings.
 *
 * Words: a *delivery* is the combined result of the *entries* that share its account, webhook, payment's place and id. So an
 * event that was published twice has two deliveries with one id, be it within one ms.
 *
 * Semantics that every adapter keeps (test/contract/deliveries-view-contract.ts):
 * - A view belongs to one process at a time and is local. It works in a thread of its own: transactions aim
 *   at 8 ms, and an account's questions are answered one after the other, so that no account delays another by their number.
 * - add stores records in their order, some in a transaction, together with the positions behind them. If it throws, the last
 *   of them are missing, and their positions too. What it stored survives the process, however it ends; a machine crash may
 *   lose the last transactions, and never a part of one.
 * - All answers, counters included, depend only on which entries were added, not on their order or repetition: a refilled view
 *   gives the same. An attempt is identified by its content. A delivery's attempts are sorted by start; its outcome comes from
 *   all of them (delivery-order.ts).
 * - page returns deliveries newest first, by their payment's time, offset and place, then by id. What `before` names
 *   need not exist: a page continues at the same place whatever was added since, and in a refilled view too.
 * - What waits for a webhook that is removed, as far as the process knows, is cancelled (REMOVAL), whatever its entries say.
 * - A call of page examines a bounded number of deliveries: if few of them are asked for, a page with a `next` may have less
 *   than `limit`, or none. Counts are exact, of any number.
 * - A query is a sequence of steps, each of which touches a bounded number of rows, however large the account or the view is.
 *   Between two steps other accounts' queries and records have their turn; so what changes in the meantime is counted as it
 *   was when its place was reached, at most once.
 * - forget deletes deliveries, events and counters whose last entry is older than the given time, oldest first, some at a
 *   time; counters by minute after 2 days.
 * - Whatever finds the view damaged throws ViewUnsound: the view is unusable from then on.
 * - discard closes the view; the next open creates a new one. close is idempotent.
 * - Where the shape of its tables has changed, a view of the former shape may answer at first; all else is the new view's.
 */

import type { WithNulls } from '../schema.js';
import type { Extent, Positions, ReceivedRecord } from './broker.js';
import type { Outcome } from './delivery-order.js';
import type { DeliveryLogEntry, LoggedAttempt, RoutedEntry } from './log-entry.js';

/** @throws ViewUnsound, ViewRefused, ViewEnded, by each method */
export interface DeliveriesView {
  /** Drawn at random for each new view. */
  readonly id: string;
  /** The queries about an account. @param user whom their time is charged to */
  of(accountId: number, user?: string): AccountView;
  /** The positions of the last calls of add. */
  positions(topic: ViewTopic): Promise<Positions>;
  /** @param reached the positions behind the records in their topics, of some partitions */
  add(records: readonly ViewRecord[], reached?: ReachedPositions): Promise<void>;
  /** It has caught up with its topics: the view of a former shape, which has answered until now, goes. */
  answerAlone(): Promise<void>;
  /** @param before ms since the epoch */
  forget(before: number): Promise<void>;
  discard(): Promise<void>;
  close(): Promise<void>;
}

/** The named queries, about one account. */
export interface ViewQueries {
  page(query: DeliveriesQuery): DeliveriesPage;
  /** The deliveries with this id, newest first: the newest 1,000 publications of an event. */
  publications(id: string): readonly ViewedDelivery[];
  /** Newest first, by publication. */
  events(query: EventsQuery): EventsPage;
  /** In the order of the deliveries topic: events appear when they were routed. */
  feed(query: FeedQuery): FeedPage;
  /** Steps without anything are left out, oldest first. */
  stats(query: StatsQuery): readonly StatsBucket[];
  /** Of each minute and webhook that has some. @param from ms since the epoch; its minute counts as a whole */
  attempts(from: number): readonly MinuteAttempts[];
  /** Counters begin here, ms since the epoch; null: nothing was counted yet. */
  dataSince(): number | null;
  /** By webhook, also of removed ones; without those that never had a delivery. */
  health(): ReadonlyMap<number, WebhookHealth>;
  recoverableCount(query: RecoverableQuery): RecoverableCount;
  /** The oldest that the recovery has not requested yet, behind the place that the query has reached (null: none yet). */
  nextRecoverable(query: RecoverableQuery, recovery: string, after: ListPlace | null): NextRecoverable;
  /** Of those whose record is still there. */
  missedCount(query: MissedQuery, firstKept: FirstKept): RecoverableCount & Complete;
  /** The oldest that was missed, behind the place that the recovery has reached (null: none yet). */
  nextMissed(query: MissedQuery, after: ListPlace | null): NextMissed;
  /** What became of the deliveries that a recovery requested. */
  recovery(recoveryId: string): RecoveryProgress;
}

export type AccountView = { readonly viewId: string } & {
  readonly [Query in keyof ViewQueries]: (
    ...asked: Parameters<ViewQueries[Query]>
  ) => Promise<ReturnType<ViewQueries[Query]>>;
};

/** The steps of a query: it may be left for a while at each yield. */
export type Steps<T> = Generator<undefined, T, undefined>;

export type SteppedQueries = {
  readonly [Query in keyof ViewQueries]: (
    ...asked: Parameters<ViewQueries[Query]>
  ) => Steps<ReturnType<ViewQueries[Query]>>;
};

/** The view as its thread has it. */
export interface ViewCore {
  readonly id: string;
  of(account: ViewedAccount): SteppedQueries;
  positions(topic: ViewTopic): Positions;
  /** In one transaction: all, or none if it throws. */
  add(entries: readonly (ViewEntry | ViewRouting)[], reached?: ReachedPositions): void;
  forget(before: number): void;
  discard(): void;
  close(): void;
}

export interface ViewedAccount {
  readonly accountId: number;
  /** The ids of its webhooks: every other one is removed. Null: they are not known. */
  readonly webhookIds: readonly number[] | null;
}

/** The topics that a view is filled from. */
export const VIEW_TOPICS = ['deliveries', 'requests'] as const;
export type ViewTopic = (typeof VIEW_TOPICS)[number];

/** A record of one of them. */
export type ViewRecord = Omit<ReceivedRecord, 'topic'> & { readonly topic: ViewTopic };
export type ReachedPositions = ReadonlyMap<ViewTopic, Positions>;
export type ViewEnds = ReadonlyMap<ViewTopic, ReadonlyMap<number, Extent>>;

/** A view that is missing for a while, as when it is rebuilt. */
export interface AskView {
  /** False until the view has all that its topics had when it was opened. */
  readonly isCaughtUp: boolean;
  /** The answer as far as the view has caught up; null while there is no view that answers. @param user as for `of` */
  ask<T>(accountId: number, question: (view: AccountView) => Promise<T>, user?: string): Promise<T | null>;
  /** The id of the view, once it has what its topics had up to these ends; null: not now. */
  idBehind(ends: ViewEnds): Promise<string | null>;
}

/** The last attempt's status, by its first digit. none: no status came, or no attempt was made yet. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
type StatusClass = (typeof STATUS_CLASSES)[number];

interface Placed {
  /** The position of the entry's record in the topic. */
  readonly place: Pick<ReceivedRecord, 'partition' | 'offset' | 'timestamp'>;
  /** When the payment was published, ms since the epoch: the same in each entry of a delivery. 0: its record has no time. */
  readonly firstAt: number;
}

/** What the topic says about a delivery. */
export interface ViewEntry extends DeliveryLogEntry, Placed {
  readonly kind: 'delivery';
  readonly payment: string;
}

/** What the topic says about the routing of a payment. */
export interface ViewRouting extends RoutedEntry, Placed {
  readonly kind: 'routed';
  /** Its place among the routings of its record, from 0. */
  readonly index: number;
}

/** Fields of one attempt or request: the view combines those of all entries. */
type Combined = 'chain' | 'attempts' | 'attempt' | 'recovery' | 'held';

/** The combined result of the entries of a delivery. waitingFor null: its schedule, or the delivery has ended. */
export interface ViewedDelivery extends WithNulls<Omit<ViewEntry, 'kind' | 'place' | Combined>> {
  readonly held: boolean;
  readonly attempts: readonly LoggedAttempt[];
  /** How often it was requested, cancellations left out. */
  readonly requests: number;
  /** It had ended, and the attempt that was requested since waits. */
  readonly sentAgain: boolean;
  /** When the `routed` entry of its payment was published, ms since the epoch; null: not yet known. */
  readonly routedAt: number | null;
}

/** How many of an event's deliveries were delivered. nobody: it has none. Held ones count as not delivered. */
export const ARRIVED = ['nobody', 'nowhere', 'part', 'all'] as const;
export type Arrived = (typeof ARRIVED)[number];
/** incomplete: nowhere or in part, so at least one destination lacks it. */
export const ARRIVED_FILTERS = [...ARRIVED, 'incomplete'] as const;

/** Null is any. */
interface Filter {
  readonly limit: number;
  readonly eventType: string | null;
  readonly eventId: string | null;
  /** Of the last attempt, of any of an event's deliveries. */
  readonly status: StatusClass | null;
  /** It is one of these. */
  readonly errors: readonly string[] | null;
  /** Of firstAt: from is inclusive, to is exclusive. */
  readonly from: number | null;
  readonly to: number | null;
}

interface EventsFilter extends Filter {
  /** pending: a webhook to which it was routed has no delivery yet. */
  readonly arrived: (typeof ARRIVED_FILTERS)[number] | 'pending' | null;
  /** One of these is among its destinations. */
  readonly webhookIds: readonly number[] | null;
  readonly reference: string | null;
}

/** Null is the newest. */
export interface EventsQuery extends EventsFilter {
  readonly before: ListPlace | null;
}

/** A row's place in the order of its list. */
export interface ListPlace {
  readonly firstAt: number;
  readonly payment: string;
  /** What tells rows of one payment apart: the id of the delivery, or of the webhook that missed it; '' of an event. */
  readonly tie: string | number;
}

type PaymentField = 'eventId' | 'eventSource' | 'eventType' | 'firstAt' | 'payment' | 'amount' | 'reference';

export interface ViewedEvent extends WithNulls<Pick<ViewRouting, PaymentField>> {
  /** When its first `routed` entry was published, ms since the epoch; null: not yet known. */
  readonly routedAt: number | null;
  readonly arrived: Arrived;
  /** To which it was routed, or sent since. Id and outcome null: nothing is known of the delivery yet. */
  readonly sentTo: readonly {
    readonly webhookId: number;
    readonly deliveryId: string | null;
    readonly outcome: Outcome | null;
    readonly held: boolean;
  }[];
}

/** Since when a view has everything, ms since the epoch; null: nothing has left it but with its topic. */
interface Complete {
  readonly completeSince: number | null;
}

export interface EventsPage extends Complete {
  readonly events: readonly ViewedEvent[];
  readonly next: ListPlace | null;
}

/**
 * How far a reader of the feed is: by partition of the deliveries topic, the last routing that was passed. It is valid in every
 * view of the topic. A partition that is left out is read from its oldest routing.
 *
 * No event is skipped: a view holds each partition without gaps up to its last entry, and a position advances only over
 * routings that the view has. By time it could be: routings appear ms to hours after the publication.
 */
export type FeedPosition = ReadonlyMap<number, { readonly offset: number; readonly index: number }>;

export interface FeedQuery extends EventsFilter {
  readonly after: FeedPosition;
}

export interface FeedPage extends Complete {
  /** An event stands at its first routing. */
  readonly events: readonly (ViewedEvent & { readonly position: FeedPosition })[];
  /** After the last routing that was examined; never before the query's. */
  readonly next: FeedPosition;
  /** There are routings that were not examined. */
  readonly more: boolean;
}

export const STATS_STEPS_MS = { '1m': 60_000, '1h': 3_600_000 } as const;
export type StatsStep = keyof typeof STATS_STEPS_MS;

export interface StatsQuery {
  /** Inclusive and exclusive, multiples of the step, ms since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly step: StatsStep;
  readonly webhookId: number | null;
  readonly eventType: string | null;
}

/** Attempts count when they began, ends when their entry was published. */
export interface StatsBucket {
  /** The start of the step, ms since the epoch. */
  readonly at: number;
  readonly delivered: number;
  readonly failedAttempts: number;
  /** Without the held ones. */
  readonly exhausted: number;
  readonly cancelled: number;
  readonly held: number;
  /** Of successful attempts, from a histogram; null: there are none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

export interface MinuteAttempts {
  /** Begin of the minute, ms since the epoch. */
  readonly at: number;
  readonly webhookId: number;
  readonly made: number;
  readonly failed: number;
}

/** Times in ms since the epoch; null: never. */
export interface WebhookHealth {
  readonly lastSuccessAt: number | null;
  readonly lastFailure: { readonly at: number; readonly status: number | null; readonly error: string | null } | null;
  /** The first failure after the last success; null if the last attempt succeeded. */
  readonly failingSince: number | null;
  readonly waiting: number;
  readonly held: number;
  /** Without the held ones. */
  readonly exhausted: number;
}

/** held are those exhausted that are held; exhausted are the others. */
export const UNDELIVERED = ['exhausted', 'retrying', 'held'] as const;
type Undelivered = (typeof UNDELIVERED)[number];
/** missed: payments that were never sent to the webhook (MissedQuery). */
export const RECOVERABLE = [...UNDELIVERED, 'missed'] as const;
export type Recoverable = (typeof RECOVERABLE)[number];

/** Of firstAt: since is inclusive, until is exclusive. */
interface Period {
  readonly since: number;
  readonly until: number;
}

export interface RecoverableQuery extends Period {
  readonly webhookIds: readonly number[];
  readonly include: readonly Undelivered[];
}

/**
 * Payments that a webhook missed, for it was off or did not exist yet: of its type, routed, but not to it, and without a
 * delivery to it.
 */
export interface MissedQuery extends Period {
  readonly webhooks: readonly { readonly id: number; readonly eventType: string }[];
}

/** By topic/partition/ of payments, the first offset that is still there. Payments of other partitions count as there. */
export type FirstKept = Readonly<Record<string, number>>;

/** Oldest first; a payment that several webhooks missed comes once for each, by their ids. */
export type MissedPayment = Pick<ViewedDelivery, 'firstAt' | 'payment' | 'webhookId' | 'eventId' | 'eventSource'>;

/** As NextRecoverable. */
export interface NextMissed {
  readonly missed: MissedPayment | null;
  readonly reached: ListPlace | null;
}

/** A call looks at a bounded number of deliveries, so it may find none and not be at the end. */
interface NextRecoverable {
  readonly delivery: ViewedDelivery | null;
  /** The last place that was looked at; null: there is nothing behind `after`. */
  readonly reached: ListPlace | null;
}

export interface RecoverableCount {
  readonly count: number;
  /** firstAt of the first and the last one; null: there are none. */
  readonly oldest: number | null;
  readonly newest: number | null;
}

interface RecoveryProgress {
  readonly sent: number;
  readonly delivered: number;
  readonly failed: number;
}

export interface DeliveriesQuery extends Filter {
  readonly webhookId: number | null;
  /** Where the previous page ended; null is the newest. */
  readonly before: ListPlace | null;
  readonly outcome: Outcome | null;
  readonly held: boolean | null;
}

export interface DeliveriesPage extends Complete {
  readonly deliveries: readonly ViewedDelivery[];
  /** Null if there are no more. */
  readonly next: ListPlace | null;
}

/** The view must be discarded. */
export class ViewUnsound extends Error {
  override readonly name = 'ViewUnsound';
  readonly code = 'VIEW_UNSOUND';
}

/** Its disk has not taken or given something; the view is as it was. */
export class ViewRefused extends Error {
  override readonly name = 'ViewRefused';
  readonly code = 'VIEW_REFUSED';
}

/** It was closed, or its thread has ended: what was under way may be stored. */
export class ViewEnded extends Error {
  override readonly name = 'ViewEnded';
  readonly code = 'VIEW_ENDED';
}

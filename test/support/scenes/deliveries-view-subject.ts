/** The deliveries view on SQLite as a subject of its contract, and entries for it. */
import { crc32 } from 'node:zlib';
import { openDeliveriesView, VIEW_FILE } from '../../../src/adapters/sqlite/view/deliveries-view.js';
import type {
  DeliveriesQuery,
  EventsQuery,
  FeedQuery,
  FirstKept,
  MissedQuery,
  ReachedPositions,
  RecoverableQuery,
  StatsQuery,
  ViewCore,
  ViewEntry,
  ViewQueries,
  ViewRouting,
} from '../../../src/ports/deliveries-view.js';
import type { LoggedAttempt } from '../../../src/ports/log-entry.js';
import type { Open } from '../../contract/contract.js';
import { ACCOUNT, NOW } from '../generators/delivery-samples.js';
import { overFolder, type Wrap } from './sqlite-subjects.js';
import { wholeQueries } from './whole-queries.js';

/** Of a view that has room for all. */
export const VIEW_SIZE = 2 ** 40;

export const WEBHOOK = 7;
/** A webhook of ACCOUNT that is removed. */
export const REMOVED = 99;

/** Every one that the cases know but REMOVED. */
const WEBHOOK_IDS = Array.from({ length: REMOVED }, (_, id) => id);

/** Asked of ACCOUNT, if no other is named. */
export type Of<Query> = Query & { readonly accountId?: number };

/** The core of the view, whose queries may name their account. */
function askedCore(core: ViewCore) {
  const of = (accountId = ACCOUNT) =>
    wholeQueries(core, { accountId, webhookIds: accountId === ACCOUNT ? WEBHOOK_IDS : null });
  return {
    id: core.id,
    add: (given: readonly (ViewEntry | ViewRouting)[], reached = behind(given)) => core.add(given, reached),
    positions: core.positions.bind(core),
    forget: core.forget.bind(core),
    discard: core.discard.bind(core),
    close: core.close.bind(core),
    page: ({ accountId, ...asked }: Of<DeliveriesQuery>) => of(accountId).page(asked),
    publications: (accountId: number, id: string) => of(accountId).publications(id),
    events: ({ accountId, ...asked }: Of<EventsQuery>) => of(accountId).events(asked),
    feed: ({ accountId, ...asked }: Of<FeedQuery>) => of(accountId).feed(asked),
    stats: ({ accountId, ...asked }: Of<StatsQuery>) => of(accountId).stats(asked),
    dataSince: (accountId: number) => of(accountId).dataSince(),
    attempts: (from: number) => of().attempts(from),
    health: (accountId: number) => of(accountId).health(),
    recoverableCount: ({ accountId, ...asked }: Of<RecoverableQuery>) => of(accountId).recoverableCount(asked),
    nextRecoverable: (
      { accountId, ...asked }: Of<RecoverableQuery>,
      ...rest: Rest<Parameters<ViewQueries['nextRecoverable']>>
    ) => of(accountId).nextRecoverable(asked, ...rest),
    missedCount: ({ accountId, ...asked }: Of<MissedQuery>, firstKept: FirstKept) =>
      of(accountId).missedCount(asked, firstKept),
    nextMissed: ({ accountId, ...asked }: Of<MissedQuery>, ...rest: Rest<Parameters<ViewQueries['nextMissed']>>) =>
      of(accountId).nextMissed(asked, ...rest),
    recovery: (accountId: number, recoveryId: string) => of(accountId).recovery(recoveryId),
  };
}

/** The positions behind entries. */
export function behind(entries: readonly (ViewEntry | ViewRouting)[]): ReachedPositions {
  const positions = entries.map(({ place }) => [place.partition, { offset: place.offset + 1, before: null }] as const);
  return new Map([['deliveries', new Map(positions)]]);
}

type Rest<Asked extends readonly unknown[]> = Asked extends readonly [unknown, ...infer Others] ? Others : never;
export type AskedCore = ReturnType<typeof askedCore>;

export function sqliteDeliveriesView(size = VIEW_SIZE, wrap: Wrap<AskedCore> = (view) => view): Open<AskedCore> {
  return overFolder((dataDir) => {
    const port = wrap(askedCore(openDeliveriesView(dataDir, () => undefined, size)));
    return { port, close: async () => port.close() };
  }, VIEW_FILE);
}

/** `n` sets the time of the payment, the place (the n-th ms and offset of partition 0) and the name of a delivery that succeeded at once. */
export function entry(n: number, changes: Partial<ViewEntry> & { readonly partition?: number } = {}): ViewEntry {
  const { partition = 0, ...rest } = changes;
  const { eventId = `pay-${n}`, firstAt = NOW + n } = rest;
  return {
    kind: 'delivery',
    id: `msg_${String(n).padStart(6, '0')}`,
    eventId,
    eventType: 'cash_in',
    accountId: ACCOUNT,
    webhookId: WEBHOOK,
    firstAt,
    outcome: 'delivered',
    chain: 0,
    attempts: 1,
    attempt: attempt(n),
    nextAttemptAt: null,
    payment: `payment-events/0/${crc32(JSON.stringify(eventId))}@${firstAt}`,
    webhookEvent: 'added-1',
    place: { partition, offset: n, timestamp: NOW + n },
    ...rest,
  };
}

export function attempt(n: number, changes: Partial<LoggedAttempt> = {}): LoggedAttempt {
  const at = new Date(NOW + n).toISOString();
  return { at, status: 200, error: null, durationMs: 12, version: 1, ...changes };
}

export function entries(count: number, changes: Parameters<typeof entry>[1] = {}): ViewEntry[] {
  return Array.from({ length: count }, (_, n) => entry(n, changes));
}

/** All of WEBHOOK by default. */
export function query(changes: Partial<Of<DeliveriesQuery>> = {}): Of<DeliveriesQuery> {
  const bounds = {
    before: null,
    outcome: null,
    held: null,
    eventType: null,
    eventId: null,
    status: null,
    errors: null,
  };
  return { webhookId: WEBHOOK, limit: 1_000, ...bounds, from: null, to: null, ...changes };
}

/** The routing of an event's payment: that of the entries of the same event id and time. */
export function routing(n: number, changes: Partial<ViewRouting> = {}): ViewRouting {
  const { accountId, eventId, eventType, firstAt, payment, place } = entry(n, {
    ...(changes.eventId !== undefined && { eventId: changes.eventId }),
    ...(changes.firstAt !== undefined && { firstAt: changes.firstAt }),
  });
  const known = { accountId, eventId, eventType, firstAt, payment, place, routed: 1, confirmed: 1 };
  return { kind: 'routed', ...known, webhooks: [WEBHOOK], index: 0, ...changes };
}

const ANY_EVENT = {
  ...{ eventType: null, eventId: null, from: null, to: null },
  ...{ arrived: null, webhookIds: null, status: null, errors: null, reference: null },
};

export function feedQuery(changes: Partial<Of<FeedQuery>> = {}): Of<FeedQuery> {
  return { limit: 1_000, after: new Map(), ...ANY_EVENT, ...changes };
}

export function eventsQuery(changes: Partial<Of<EventsQuery>> = {}): Of<EventsQuery> {
  return { limit: 1_000, before: null, ...ANY_EVENT, ...changes };
}

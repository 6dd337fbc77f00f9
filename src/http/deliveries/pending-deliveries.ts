/**
 * Deliveries of which only the routing of their event is known: they have no attempt and no entry yet. The list of events
 * shows their ids, so GET and cancel have to find them. Their ids are not stored anywhere: they are derived.
 */
import { webhookMessageId } from '../../payments/parsed-payment.js';
import type {
  AccountView,
  EventsPage,
  EventsQuery,
  ListPlace,
  ViewedDelivery,
  ViewedEvent,
} from '../../ports/deliveries-view.js';
import { REMOVAL } from '../../ports/delivery-order.js';
import type { Accounts } from '../../read-model/accounts.js';
import { notReadable } from '../read-answer.js';

const EVENTS_PER_PAGE = 200;
/**
 * 20,000 events, more than a dispatcher holds (16,384). Each page is a query of its own, so other accounts' queries are
 * answered in between. Events stay pending if their webhook is removed before the first attempt: an account may have any
 * number of them.
 */
const MAX_PAGES = 100;
const PENDING: Omit<EventsQuery, 'before' | 'eventId'> = {
  limit: EVENTS_PER_PAGE,
  arrived: 'pending',
  ...{ webhookIds: null, reference: null, eventType: null },
  ...{ status: null, errors: null, from: null, to: null },
};

export interface PendingSearch {
  readonly accountId: number;
  readonly id: string;
  /** Null: all pending events are searched for it. */
  readonly eventId: string | null;
}

/** @throws ApiError 503 if MAX_PAGES pages do not contain the id and more follow: the delivery may exist */
export async function findPending(
  view: Pick<AccountView, 'events'>,
  accounts: Pick<Accounts, 'webhook'>,
  search: PendingSearch,
): Promise<ViewedDelivery[]> {
  const eventId = search.eventId ?? (await findEventId(view, search));
  if (eventId === null) return [];
  const found: ViewedDelivery[] = [];
  for await (const event of pendingEvents(view, eventId)) {
    const webhookId = findWebhook(event, search);
    if (webhookId !== undefined) found.push(toDelivery(accounts, search, event, webhookId));
  }
  return found;
}

async function findEventId(view: Pick<AccountView, 'events'>, search: PendingSearch): Promise<string | null> {
  for await (const event of pendingEvents(view, null)) {
    if (findWebhook(event, search) !== undefined) return event.eventId;
  }
  return null;
}

/** Newest first. @param eventId only its publications, of which those beyond MAX_PAGES pages are left out */
async function* pendingEvents(
  view: Pick<AccountView, 'events'>,
  eventId: string | null,
): AsyncGenerator<ViewedEvent, void, undefined> {
  let before: ListPlace | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page: EventsPage = await view.events({ ...PENDING, eventId, before });
    yield* page.events;
    before = page.next;
    if (!before) return;
  }
  if (eventId === null) throw notReadable();
}

function findWebhook(event: ViewedEvent, { accountId, id }: PendingSearch): number | undefined {
  const pending = event.sentTo.filter(({ deliveryId }) => deliveryId === null);
  return pending.find(({ webhookId }) => webhookMessageId(accountId, event, webhookId) === id)?.webhookId;
}

/** Of a removed webhook it has ended: no attempt is made. */
function toDelivery(
  accounts: Pick<Accounts, 'webhook'>,
  { accountId, id }: PendingSearch,
  { sentTo: _, arrived: __, amount: ___, reference: ____, ...event }: ViewedEvent,
  webhookId: number,
): ViewedDelivery {
  const webhook = accounts.webhook(accountId, webhookId);
  const outcome = webhook
    ? ({ outcome: 'retrying', waitingFor: 'queue', endedBy: null } as const)
    : ({ outcome: 'cancelled', waitingFor: null, endedBy: REMOVAL } as const);
  const unsent = { held: false, nextAttemptAt: null, step: null, sentAgain: false, requests: 0, attempts: [] };
  return { ...event, ...outcome, ...unsent, id, accountId, webhookId, webhookEvent: webhook?.addedBy ?? '' };
}

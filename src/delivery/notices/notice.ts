/**
 * What an account is told about its webhooks: a record of the topic `webhooks.notices`, and a delivery while it waits in a
 * tier. No record has a header value, a secret or more of a URL than its origin: paths and queries may contain
 * secrets. Only what is sent has the whole URL.
 */
import { createHash } from 'node:crypto';
import { headerText, type NewRecord } from '../../ports/broker.js';
import type { WebhookHealth } from '../../ports/deliveries-view.js';
import type { RecordedEvent } from '../../ports/event-store.js';
import type { LastFailure } from '../../webhooks/events.js';
import type { AccountWebhooks, Webhook } from '../../webhooks/state.js';
import { type Delivery, text } from '../delivery.js';
import { NOT_BEGUN } from '../delivery-progress.js';
import { jsonIn } from '../record-place.js';

/** Times: ISO 8601, UTC, ms. */
export interface Notice {
  readonly id: string;
  readonly type: 'webhook_failing' | 'webhook_recovered' | 'webhook_deactivated';
  readonly accountId: number;
  readonly timestamp: string;
  readonly data: {
    readonly webhookId: number;
    readonly eventType: string;
    /** In a record: the origin. In what is sent: as registered. */
    readonly url: string;
    /** The first failure after the last success; null: unknown. */
    readonly since: string | null;
    readonly lastFailure: LastFailure | null;
    /** Deliveries, as far as the writer's view has caught up; null: it has no view. */
    readonly waiting: number | null;
    readonly held: number | null;
    readonly deactivatesAt: string | null;
    readonly reason: string | null;
  };
}

interface Fact {
  readonly type: Notice['type'];
  readonly at: string;
  readonly webhooks: readonly Webhook[];
  readonly about: Partial<Notice['data']>;
}

/** An event's fields, as far as notices show them. Others may write to the store: any may be missing. */
interface Told {
  readonly endpoint?: string;
  readonly webhookId?: number;
  readonly since?: string;
  readonly deactivatesAt?: string | null;
  readonly lastFailure?: LastFailure;
  readonly reason?: string;
}

const TIME_OF: Readonly<Record<string, string>> = {
  EndpointFailing: 'notedAt',
  DeactivationAnnounced: 'announcedAt',
  EndpointRecovered: 'recoveredAt',
  WebhookDeactivated: 'deactivatedAt',
};

/** When something happened that its account is told; null for any other event. ms since the epoch */
export function toldAt({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): number | null {
  const fields = data as Readonly<Record<string, unknown>>;
  if (type === 'WebhookDeactivated' && fields.by !== 'service') return null;
  const time = Date.parse(String(fields[TIME_OF[type] ?? '']));
  return Number.isNaN(time) ? null : time;
}

/** One for each webhook that the event is about, of those that the account still has. */
export function noticesOf(
  event: Pick<RecordedEvent, 'id' | 'type' | 'data'>,
  account: AccountWebhooks,
  health: ReadonlyMap<number, WebhookHealth> | null,
): Notice[] {
  const fact = factOf(event, account);
  if (!fact) return [];
  const { type, at: timestamp, about } = fact;
  return fact.webhooks.map(({ id: webhookId, eventType, endpoint }) => {
    const url = new URL(endpoint).origin;
    const counts = health?.get(webhookId) ?? (health && { waiting: 0, held: 0 });
    const { waiting = null, held = null } = counts ?? {};
    const nothing = { since: null, lastFailure: null, deactivatesAt: null, reason: null };
    const data = { webhookId, eventType, url, ...nothing, ...about, waiting, held };
    return { id: idOf(event.id, webhookId), type, accountId: account.accountId ?? 0, timestamp, data };
  });
}

function factOf({ type, data }: Pick<RecordedEvent, 'type' | 'data'>, account: AccountWebhooks): Fact | null {
  const at = toldAt({ type, data });
  if (at === null) return null;
  const told = data as Told;
  const { endpoint, since = null, deactivatesAt = null, lastFailure = null } = told;
  const active = account.webhooks.filter((webhook) => webhook.isActive && webhook.endpoint === endpoint);
  const common = { at: new Date(at).toISOString(), webhooks: active };
  if (type === 'EndpointRecovered') return { ...common, type: 'webhook_recovered', about: { since } };
  if (type === 'WebhookDeactivated') return { ...common, ...deactivated(told, account) };
  const soon = type === 'DeactivationAnnounced' ? `; the webhook is deactivated at ${deactivatesAt}` : '';
  const reason = `nothing was delivered since ${since}${soon}`;
  return { ...common, type: 'webhook_failing', about: { since, lastFailure, deactivatesAt, reason } };
}

function deactivated({ webhookId, ...told }: Told, { webhooks, failing }: AccountWebhooks) {
  const { lastFailure = null, reason = null } = told;
  const found = webhooks.filter(({ id }) => id === webhookId);
  const since = failing.find(({ endpoint }) => endpoint === found[0]?.endpoint)?.since ?? null;
  return { type: 'webhook_deactivated', webhooks: found, about: { since, lastFailure, reason } } as const;
}

/** Derived, so that a notice that is published twice is recognised. */
function idOf(eventId: string, webhookId: number): string {
  const text = JSON.stringify([eventId, webhookId]);
  return `ntc_${createHash('sha256').update(text).digest('base64url').slice(0, 27)}`;
}

const [NOTICE, POSITION] = ['aw-notice', 'aw-position'];

/** @param position the event's place in the event store */
export function noticeRecord(notice: Notice, position: string): NewRecord {
  const headers = [text(NOTICE, notice.id), text(POSITION, position)];
  return { key: Buffer.from(String(notice.accountId)), value: Buffer.from(JSON.stringify(notice)), headers };
}

/** Marks how far the writer has read the event store, with no notice: it has no key and no value. */
export function positionRecord(position: string): NewRecord {
  return { key: null, value: null, headers: [text(POSITION, position)] };
}

/** A record of the topic of notices. */
export interface PublishedNotice {
  /** Null for a record that only marks a position. */
  readonly id: string | null;
  readonly position: string;
}

/** Null for a foreign record. */
export function publishedNotice(record: NewRecord): PublishedNotice | null {
  const position = headerText(record, POSITION);
  return position === undefined ? null : { id: headerText(record, NOTICE) ?? null, position };
}

/** A notice to be sent, from its topic; null for a foreign record and for one that only marks a position. */
export function noticeDelivery(record: NewRecord): Delivery | null {
  const id = publishedNotice(record)?.id;
  const notice = jsonIn<Notice>(record);
  if (!id || !notice?.data) return null;
  const { accountId, type: eventType, data } = notice;
  const about = { id, accountId, webhookId: data.webhookId, webhookEvent: '', eventId: id, eventType };
  const none = { cloudEvent: null, payment: null, publishedAt: null, trace: null };
  return { ...NOT_BEGUN, ...about, ...none, isNotice: true, record: { key: null, value: record.value, headers: [] } };
}

/** What is sent: with the webhook's whole URL. */
export function noticeBody(record: Pick<NewRecord, 'value'>, { url }: Pick<Webhook, 'url'>): Buffer {
  const notice = jsonIn<Notice>(record);
  return Buffer.from(JSON.stringify({ ...notice, data: { ...notice?.data, url } }));
}

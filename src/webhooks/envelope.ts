/**
 * An event's metadata: who caused it, and by which request, for auditors; no fold reads it. And the Idempotency-Key that
 * caused it: one append stores both, so that across any number of processes one key makes one event. Only hashes: a store
 * must reveal neither keys nor header values.
 */
import { type Requester, requester } from '../limits/user-limits.js';
import { type TraceContext, traceparentOf } from '../observability/tracing.js';
import { isTime } from '../ports/broker.js';
import type { NewEvent, RecordedEvent } from '../ports/event-store.js';
import type { Decision } from './decide.js';
import type { AccountEvent, StoredAccountEvent } from './events.js';
import type { RegisteredWebhook } from './state.js';

export interface CommandContext {
  /** The client id, or the operating-system user of the command line. */
  readonly actor: string;
  readonly requestId: string;
  readonly correlationId: string;
  readonly trace?: TraceContext | null;
  /** Whom limits count. If absent, the actor, without a reserve. */
  readonly requester?: Requester | undefined;
}

export function requesterIn(accountId: number, { actor, requester: given }: CommandContext): Requester {
  return given ?? requester(accountId, actor);
}

export type NewEventId = () => string;

export function enveloped(events: readonly AccountEvent[], context: CommandContext, newId: NewEventId): NewEvent[] {
  const { actor, requestId, correlationId, trace } = context;
  const about = { $correlationId: correlationId, $causationId: requestId, actor, requestId };
  const metadata = trace ? { ...about, $traceparent: traceparentOf(trace) } : about;
  return events.map(({ type, data }) => ({ id: newId(), type, data: { ...data }, metadata }));
}

/** A stored event of an account's stream as input for the folds, which ignore unknown types. */
export function accountEvent({ id, type, data }: Pick<NewEvent, 'id' | 'type' | 'data'>): StoredAccountEvent {
  return { id, type, data } as unknown as StoredAccountEvent;
}

/** How long the same request with the same key gets the same response. ms */
const KEY_COUNTS_MS = 24 * 3_600_000;
/** Processes' clocks differ: all keep a key for as long as one of them may honour it. ms */
export const KEY_KEPT_MS = KEY_COUNTS_MS + 3_600_000;

export interface KeyUse {
  /** SHA-256 of the key. */
  readonly key: string;
  /** Fingerprint of the request (secrets/fingerprint.ts). */
  readonly request: string;
  /** ms since the epoch. */
  readonly at: number;
  /** The type of the event that the key caused. */
  readonly eventType: string;
  readonly webhooks: readonly RegisteredWebhook[];
}

export interface RequestKey {
  readonly key: string;
  readonly request: string;
  isOf(fingerprint: string): boolean;
}

/** replayed: the key's request was already handled. idempotency-key-used: the key belongs to another request. */
export type KeyEffect = { readonly kind: 'replayed'; readonly use: KeyUse } | { readonly kind: 'idempotency-key-used' };

/** @param use of the key in the account @param now ms since the epoch @returns null if the key is unused or has expired */
export function findKeyEffect(use: KeyUse | null, key: RequestKey, now: number): KeyEffect | null {
  if (!use || now - use.at >= KEY_COUNTS_MS) return null;
  return key.isOf(use.request) ? { kind: 'replayed', use } : { kind: 'idempotency-key-used' };
}

interface DecisionRequest {
  readonly context: CommandContext;
  readonly key: RequestKey | null;
  readonly newEventId: NewEventId;
  /** ms since the epoch. */
  readonly at: number;
}

/** The events of a decision, and the use of the request's key. A key that changed nothing is an event of its own. */
export function envelopeDecision(
  decision: Decision,
  { context, key, newEventId, at }: DecisionRequest,
): readonly NewEvent[] {
  if (decision.kind !== 'accepted') return [];
  const { events, registered, unchanged } = decision;
  const isKeyOnly = key && unchanged;
  const caused = enveloped(isKeyOnly ? [{ type: 'IdempotencyKeyUsed', data: unchanged }] : events, context, newEventId);
  if (!key || !registered) return caused;
  return withKey(caused, { key: key.key, request: key.request, at, webhooks: registered });
}

const FIELD = 'idempotency';

/** Adds the use of the key to the metadata of the first event, which carries the command's main effect. */
export function withKey(events: readonly NewEvent[], use: Omit<KeyUse, 'eventType'>): readonly NewEvent[] {
  return events.map((event, index) =>
    index === 0 ? { ...event, metadata: { ...event.metadata, [FIELD]: use } } : event,
  );
}

/** Null if the event was caused without a key, or others wrote it. */
export function keyUseOf({ type, metadata }: Pick<RecordedEvent, 'type' | 'metadata'>): KeyUse | null {
  const { key, request, at, webhooks } = (metadata?.[FIELD] ?? {}) as Partial<KeyUse>;
  if (typeof key !== 'string' || typeof request !== 'string' || typeof at !== 'number' || !isTime(at)) return null;
  if (!Array.isArray(webhooks)) return null;
  const known = webhooks.flatMap((webhook) => registeredIn(webhook) ?? []);
  return known.length === webhooks.length ? { key, request, at, eventType: type, webhooks: known } : null;
}

/** Only what is known of it: others may have nested the rest too deeply to be stored. */
function registeredIn(value: unknown): RegisteredWebhook | null {
  const { id, url, createdAt } = (value ?? {}) as { readonly [Field in keyof RegisteredWebhook]: unknown };
  return typeof id === 'number' && typeof url === 'string' && typeof createdAt === 'string'
    ? { id, url, createdAt }
    : null;
}

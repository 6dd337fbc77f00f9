/**
 * Calls that the page makes and /openapi.json does not describe yet, in openapi-typescript's form. One goes when its
 * operation is there.
 */
import type { components } from './openapi.js';

type EventType = components['schemas']['EventType'];
export type Outcome = components['schemas']['DeliveryOutcome'];
export type ListedDelivery = components['schemas']['AccountDelivery'] & { held?: boolean };
export type Right = 'read' | 'payloads' | 'resend' | 'configure' | 'secrets';

interface Answer<T> {
  headers: Record<string, unknown>;
  content: { 'application/json': T };
}

interface Call<T, Given = unknown, Status extends number = 200> {
  parameters: Given;
  requestBody?: never;
  responses: { [S in Status]: Answer<T> } & { default: Answer<components['schemas']['Error']> };
}

type CallWith<Body, T, Given = unknown, Status extends number = 200> = Omit<Call<T, Given, Status>, 'requestBody'> & {
  requestBody: { content: { 'application/json': Body } };
};

interface OfId<Id> {
  path: { id: Id };
}

export interface Session {
  account: number;
  user: string | null;
  can: Right[];
  expiresAt: string;
  returnUrl: string | null;
  /** A path of the service. */
  next: string | null;
}

export interface WebhookHealth {
  webhookId: number;
  state: 'healthy' | 'failing' | 'off' | 'untried';
  since: string | null;
  offBy: 'account' | 'service' | null;
  reason: string | null;
  deactivatesAt: string | null;
  lastSuccessAt: string | null;
  lastFailure: { at: string; status: number | null; error: string | null } | null;
  waiting: number;
  held: number;
}

export interface DetailedAttempt {
  at: string;
  status: number | null;
  error: string | null;
  reason?: string | null;
  durationMs: number;
  version: number;
  url: string | null;
  trigger: 'event' | 'retry' | 'resend' | 'recover' | 'replay';
  actor: string | null;
  response?: string | null;
}

export interface DetailedDelivery {
  id: string;
  eventId: string;
  eventType: EventType;
  webhookId: number;
  outcome: Outcome;
  held?: boolean;
  publishedAt: string | null;
  routedAt: string | null;
  nextAttemptAt: string | null;
  attempts: DetailedAttempt[];
  payload: string | null;
  payloadUntil: string | null;
}

export type Included = 'exhausted' | 'retrying' | 'held';

export interface RecoveryPreview {
  count: number;
  oldest: string | null;
  newest: string | null;
}

export interface Recovery {
  state: 'running' | 'done' | 'stopped';
  count: number;
  sent: number;
  delivered: number;
  failed: number;
}

export interface StatsBucket {
  at: string;
  delivered: number;
  failedAttempts: number;
  exhausted: number;
  cancelled: number;
  held: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface Stats {
  step: string;
  /** Null: nothing was counted yet. */
  dataSince: string | null;
  buckets: StatsBucket[];
}

interface Done {
  success: true;
  message: string;
}

interface RecoveryOrder {
  since: string;
  until?: string;
  include?: Included[];
  perSecond?: number;
}

export interface PendingPaths {
  '/console/session': { get: Call<Session>; post: CallWith<{ code: string }, Session>; delete: Call<Done> };
  '/api/webhooks/health': { get: Call<{ webhooks: WebhookHealth[] }> };
  '/api/deliveries/{id}': { get: Call<{ delivery: DetailedDelivery }, OfId<string>> };
  '/api/deliveries/{id}/resend': { post: Call<Done, OfId<string>, 202> };
  '/api/deliveries/{id}/cancel': { post: Call<Done, OfId<string>, 202> };
  '/api/webhooks/{id}/recover': {
    get: Call<RecoveryPreview, OfId<number> & { query: { since: string; until?: string; include?: string } }>;
    post: CallWith<RecoveryOrder, Done & { id: string; count: number }, OfId<number>, 202>;
  };
  '/api/recoveries/{id}': { get: Call<Recovery, OfId<string>>; delete: Call<Recovery, OfId<string>> };
  '/api/stats': {
    get: Call<Stats, { query: { from: string; to: string; step: '1m' | '1h' | '1d' } }>;
  };
}

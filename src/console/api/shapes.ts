/** What the calls answer, by the names that the page uses. */
import type { components, paths } from './openapi.js';

type Json<Response> = Response extends { content: { 'application/json': infer Shape } } ? Shape : never;
/** What its GET answers. */
export type Got<Path extends keyof paths> = paths[Path] extends { get: { responses: { 200: infer Response } } }
  ? Json<Response>
  : never;

/** Of its GET: query and path. */
export type ParamsOf<Path extends keyof paths> = paths[Path] extends { get: { parameters: infer Parameters } }
  ? Omit<Parameters, 'header' | 'cookie'>
  : never;

export type Outcome = components['schemas']['DeliveryOutcome'];
export type ListedDelivery = components['schemas']['AccountDelivery'];
export type Session = Got<'/console/session'>;
export type Right = Session['can'][number];
export type WebhookHealth = Got<'/api/webhooks/health'>['webhooks'][number];
export type DetailedDelivery = Got<'/api/deliveries/{id}'>['delivery'];
export type DetailedAttempt = DetailedDelivery['attempts'][number];
export type Reason = NonNullable<components['schemas']['Attempt']['reason']>;
export type RecoveryPreview = Got<'/api/webhooks/{id}/recover'>;
export type Recovery = Got<'/api/recoveries/{id}'>;
export type Stats = Got<'/api/stats'>;
export type StatsBucket = Stats['buckets'][number];
export type Included = 'exhausted' | 'retrying' | 'held';

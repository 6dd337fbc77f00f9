/** What the service takes and answers, as its own descriptions say it. */
import type { FieldError } from '../../http/api-error.js';
import type { Paths } from '../../http/client-types.js';

export type paths = Paths;

type Json<Response> = Response extends { content: { 'application/json': infer Shape } } ? Shape : never;
type Answer<
  Path extends keyof Paths,
  Method extends keyof Paths[Path],
  Status extends number,
> = Paths[Path][Method] extends {
  responses: Record<Status, infer Response>;
}
  ? Json<Response>
  : never;
type Listed<Path extends keyof Paths, Field extends string> =
  Answer<Path, 'get' & keyof Paths[Path], 200> extends Record<Field, readonly (infer Item)[]> ? Item : never;

export interface components {
  schemas: {
    AccountDelivery: Listed<'/api/deliveries', 'deliveries'>;
    Arrived: Listed<'/api/events', 'events'>['arrived'];
    Attempt: Listed<'/api/deliveries', 'deliveries'>['attempts'][number];
    Change: Listed<'/api/history', 'events'>;
    DeliveryOutcome: Listed<'/api/deliveries', 'deliveries'>['outcome'];
    FieldError: FieldError;
    HistoryPage: Answer<'/api/history', 'get', 200>;
    IssuedSigningSecret: Answer<'/api/signing-secrets', 'post', 201>;
    PortalSession: Listed<'/api/portal-sessions', 'sessions'>;
    PublishedEvent: Listed<'/api/events', 'events'>;
    RecoveryPreview: Answer<'/api/webhooks/{id}/recover', 'get', 200>;
    RegisteredWebhook: Answer<'/api/webhooks', 'post', 200>;
    Webhook: Listed<'/api/webhooks', 'webhooks'>;
    WebhookTest: Answer<'/api/webhooks/{id}/test', 'post', 200>;
  };
}

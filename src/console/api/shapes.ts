/** What the calls take and answer, as the service's own descriptions say it, by the names that the page uses. */
import type { Paths } from '../../http/client-types.js';
import type { FieldProblem, Problem } from '../../http/error-codes.js';

export type { FieldError } from '../../http/api-error.js';

export type ErrorCode = (Problem | FieldProblem)['code'];
export type Path = keyof Paths;
type Json<Answer> = Answer extends { content: { 'application/json': infer Shape } } ? Shape : never;
export type Operation<P extends Path, Method extends string> = Method extends keyof Paths[P] ? Paths[P][Method] : never;
export type Answered<O> = O extends { responses: infer Answers }
  ? Json<Answers[Extract<keyof Answers, 200 | 201 | 202>]>
  : never;
export type Body<O> = O extends { requestBody?: infer Given } ? Json<NonNullable<Given>> : undefined;

/** What its GET answers. */
export type Got<P extends Path> = Answered<Operation<P, 'get'>>;
/** Of its GET: query and path. */
export type ParamsOf<P extends Path> =
  Operation<P, 'get'> extends { parameters: infer Parameters } ? Omit<Parameters, 'header' | 'cookie'> : never;

export type Change = Got<'/api/history'>['events'][number];
export type DetailedDelivery = Got<'/api/deliveries/{id}'>['delivery'];
export type DetailedAttempt = DetailedDelivery['attempts'][number];
export type Outcome = DetailedDelivery['outcome'];
export type IssuedSecret = Answered<Operation<'/api/signing-secrets', 'post'>>;
export type Payment = Got<'/api/events'>['events'][number];
export type PortalSession = Got<'/api/portal-sessions'>['sessions'][number];
export type Recovery = Got<'/api/recoveries/{id}'>;
export type Session = Got<'/console/session'>;
export type SessionPreview = Answered<Operation<'/console/session/preview', 'post'>>;
export type Right = Session['can'][number];
export type Stats = Got<'/api/stats'>;
export type Webhook = Got<'/api/webhooks'>['webhooks'][number];
export type WebhookHealth = Got<'/api/webhooks/health'>['webhooks'][number];
export type WebhookTest = Answered<Operation<'/api/webhooks/{id}/test', 'post'>>;

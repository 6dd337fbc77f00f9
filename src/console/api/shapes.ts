/** What the calls take and answer, by the names that the page uses. */
import type { components, paths } from './openapi.js';

type Json<Answer> = Answer extends { content: { 'application/json': infer Shape } } ? Shape : never;
export type Operation<Path extends keyof paths, Method extends string> = Method extends keyof paths[Path]
  ? paths[Path][Method]
  : never;
export type Answered<O> = O extends { responses: infer Answers }
  ? Json<Answers[Extract<keyof Answers, 200 | 201 | 202>]>
  : never;
export type Body<O> = O extends { requestBody?: infer Given } ? Json<NonNullable<Given>> : undefined;

/** What its GET answers. */
export type Got<Path extends keyof paths> = Answered<Operation<Path, 'get'>>;
/** Of its GET: query and path. */
export type ParamsOf<Path extends keyof paths> =
  Operation<Path, 'get'> extends { parameters: infer Parameters } ? Omit<Parameters, 'header' | 'cookie'> : never;

export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
export type Outcome = Schema<'DeliveryOutcome'>;
export type Session = Got<'/console/session'>;
export type Right = Session['can'][number];
export type WebhookHealth = Got<'/api/webhooks/health'>['webhooks'][number];
export type DetailedDelivery = Got<'/api/deliveries/{id}'>['delivery'];
export type DetailedAttempt = DetailedDelivery['attempts'][number];
export type Recovery = Got<'/api/recoveries/{id}'>;
export type Stats = Got<'/api/stats'>;

/** The only errors that are shown as they are, { success: false, message, code, errors? } with a status, and what turns all others into one. */
import type { Context, Next } from 'koa';
import type { RateLimit, Requester } from '../limits/user-limits.js';
import type { Logger } from '../observability/logger.js';
import { BrokerUnavailable, RecordRefused } from '../ports/broker.js';
import { OtherHistory, StoreUnavailable } from '../ports/event-store.js';
import { ReadModelBehind } from '../read-model/account-states.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { TooManyLookups } from '../read-model/store-lookups.js';
import { CommandQueueFull } from '../webhooks/account-command-queue.js';
import { ERRORS, type FieldProblem, messageOf, type Param, type Problem } from './error-codes.js';
import { aboutRequest } from './request-context.js';

export interface FieldError {
  /** The field's name in the contract: url, eventType, headers, headers[0].key, isActive. */
  readonly field: string;
  readonly message: string;
  readonly code: FieldProblem['code'];
  readonly params?: Params;
}

interface Details {
  readonly errors?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly problem: Problem,
    readonly details: Details = {},
  ) {
    super(messageOf(problem));
  }

  get status(): number {
    return ERRORS[this.problem.code][2];
  }
}

export function fieldError(field: string, problem: FieldProblem): FieldError {
  return { field, message: messageOf(problem, field), code: problem.code, ...shownParams(problem) };
}

/** @param why of the field: what it must be */
export function malformed(field: string, why: string): ApiError {
  return badRequest([fieldError(field, { code: 'malformed', params: { why } })]);
}

/** A 400 whose message also names the fields. */
export function badRequest(errors: readonly FieldError[]): ApiError {
  const why = errors.map(({ message }) => message).join(' ');
  return new ApiError({ code: 'invalid-fields', params: { why } }, { errors });
}

export function retryAfter(ms: number): Details {
  return { headers: { 'retry-after': String(Math.ceil(ms / 1000)) } };
}

type AsKind<Of> = Of extends { code: infer Code } ? { readonly kind: Code } & Omit<Of, 'code'> : never;
type Decision =
  | { readonly kind: 'accepted' }
  | (AsKind<Problem> & { readonly field?: undefined; readonly retryAfterMs?: number })
  | (AsKind<FieldProblem> & { readonly field: string });

interface Refused {
  readonly kind: string;
  readonly params?: Params;
  readonly field?: string | undefined;
  readonly retryAfterMs?: number;
}

/** Each kind of refusal is a code. @throws ApiError of the refusal */
export function mustBeAccepted<Of extends Decision>(
  decision: Of,
): asserts decision is Extract<Of, { kind: 'accepted' }> {
  if (decision.kind === 'accepted') return;
  const { kind: code, params, field, retryAfterMs }: Refused = decision;
  if (field !== undefined) throw badRequest([fieldError(field, { code, params } as FieldProblem)]);
  throw new ApiError({ code, params } as Problem, retryAfterMs === undefined ? {} : retryAfter(retryAfterMs));
}

/** Takes one request. @throws ApiError 429 */
export function assertWithin(limit: RateLimit, requester: Requester): void {
  const waitMs = limit(requester);
  if (waitMs > 0) throw new ApiError({ code: 'too-many-requests' }, retryAfter(waitMs));
}

/** What is known of an account. @throws ApiError 404 if it is not registered */
export function registered<T>(found: T | undefined): T {
  if (found === undefined) throw new ApiError({ code: 'account-not-found' });
  return found;
}

/** Outermost middleware. An unknown error is a plain 500. */
export function answerErrors(logger: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw notRouted(ctx);
    } catch (error) {
      const known = error instanceof ApiError ? error : (badTarget(ctx, error) ?? notNow(error));
      if (!known) {
        logger.error({ err: error, method: ctx.method, path: ctx.path, ...aboutRequest(ctx) }, 'a request failed');
      }
      answer(ctx, known ?? new ApiError({ code: 'internal-error' }));
    }
  };
}

/** Node passes on `GET http://[ HTTP/1.1`: whoever reads its path first, to find its route, gets an error. */
function badTarget({ state }: Context, error: unknown): ApiError | null {
  const isOurs = state.route || (error as NodeJS.ErrnoException).code !== 'ERR_INVALID_URL';
  return isOurs ? null : new ApiError({ code: 'malformed-request' });
}

function answer(ctx: Context, error: ApiError): void {
  ctx.status = error.status;
  if (error.status === 401) ctx.set('www-authenticate', CHALLENGE);
  ctx.set({ ...error.details.headers });
  ctx.body = bodyOf(error);
}

/** The scheme alone, where no token is to blame (RFC 6750 3). */
export const CHALLENGE = 'Bearer realm="account-webhooks"';

export function bodyOf({ problem, message, details: { errors } }: ApiError) {
  return { success: false, message, code: problem.code, ...shownParams(problem), ...(errors && { errors }) };
}

type Params = Readonly<Record<string, Param>>;

function shownParams({ params = {} }: { readonly params?: Params }): { readonly params?: Params } {
  const { why: _, ...shown } = params;
  return Object.keys(shown).length > 0 ? { params: shown } : {};
}

/** A known path with an unknown method is a 405 that lists the allowed methods; ctx.matched is the router's. */
function notRouted(ctx: Context): ApiError {
  const layers = (ctx.matched ?? []) as readonly { methods: readonly string[] }[];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length === 0) return new ApiError({ code: 'not-found' });
  const allow = methods.join(', ');
  return new ApiError({ code: 'method-not-allowed', params: { allowed: methods } }, { headers: { allow } });
}

const RETRY_AFTER_MS = 5_000;

/** What a topic refuses has passed every check here: its settings are in the way. */
const OUTAGES = [BrokerUnavailable, RecordRefused, StoreUnavailable, OtherHistory, ReadModelBehind, AccountUnreadable];

/** The 503 or 429 for the caller; null for others. The watch over the store reports the cause of an outage, once. */
export function notNow(error: unknown): ApiError | null {
  if (error instanceof CommandQueueFull) return new ApiError({ code: 'too-many-waiting' }, retryAfter(RETRY_AFTER_MS));
  if (error instanceof TooManyLookups) return new ApiError({ code: 'unavailable' }, retryAfter(error.retryAfterMs));
  if (!OUTAGES.some((outage) => error instanceof outage)) return null;
  return new ApiError({ code: 'unavailable' }, retryAfter(RETRY_AFTER_MS));
}

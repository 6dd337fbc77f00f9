/** The only errors that are shown as they are, { success: false, message, errors? } with a status, and what turns all others into one. */
import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.js';
import { BrokerUnavailable, RecordRefused } from '../ports/broker.js';
import { OtherHistory, StoreUnavailable } from '../ports/event-store.js';
import { ReadModelBehind } from '../read-model/account-states.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { TooManyWaiting } from '../webhooks/account-turns.js';
import { aboutRequest } from './request-context.js';

export interface FieldError {
  /** The field's name in the contract: url, eventType, headers, headers[0].key, isActive. */
  readonly field: string;
  readonly message: string;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly status: number,
    message: string,
    readonly details: { errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
  }
}

export function fieldError(field: string, predicate: string): FieldError {
  return { field, message: `${field} ${predicate}.` };
}

/** A 400 whose message also names the fields. */
export function badRequest(errors: readonly FieldError[]): ApiError {
  const message = errors.map((error) => error.message).join(' ');
  return new ApiError(400, message, { errors });
}

/** What is known of an account. @throws ApiError 404 if it is not registered */
export function registered<T>(found: T | undefined): T {
  if (found === undefined) throw accountNotFound();
  return found;
}

export function accountNotFound(): ApiError {
  return new ApiError(404, 'account not found');
}

/** Outermost middleware. An unknown error is a plain 500. */
export function answerErrors(logger: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      if (!hasPath(ctx)) throw new ApiError(400, 'the request target is not a valid path');
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw notRouted(ctx);
    } catch (error) {
      const known = error instanceof ApiError ? error : notNow(error);
      if (!known) {
        logger.error({ err: error, method: ctx.method, path: ctx.path, ...aboutRequest(ctx) }, 'a request failed');
      }
      answer(ctx, known ?? new ApiError(500, 'internal error'));
    }
  };
}

function answer(ctx: Context, error: ApiError): void {
  const { errors, headers } = error.details;
  ctx.status = error.status;
  ctx.set({ ...headers });
  ctx.body = { success: false, message: error.message, ...(errors && { errors }) };
}

/** A target in absolute form, `GET http://[ HTTP/1.1`, may be unparseable; Node passes it on. */
function hasPath(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** A known path with an unknown method is a 405 that lists the allowed methods; ctx.matched is the router's. */
function notRouted(ctx: Context): ApiError {
  const layers = (ctx.matched ?? []) as readonly { methods: readonly string[] }[];
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length === 0) return new ApiError(404, 'not found');
  const allow = methods.join(', ');
  return new ApiError(405, `use ${allow}`, { headers: { allow } });
}

const RETRY_AFTER_SECONDS = 5;

/** What a topic refuses has passed every check here: its settings are in the way. */
const OUTAGES = [BrokerUnavailable, RecordRefused, StoreUnavailable, OtherHistory, ReadModelBehind, AccountUnreadable];

/** The 503 or 429 for the caller; null for others. The watch over the store reports the cause of an outage, once. */
export function notNow(error: unknown): ApiError | null {
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  if (error instanceof TooManyWaiting) {
    return new ApiError(429, 'too many requests of this account wait; Retry-After says when to try again', { headers });
  }
  if (!OUTAGES.some((outage) => error instanceof outage)) return null;
  return new ApiError(503, 'the service is unavailable; Retry-After says when to try again', { headers });
}

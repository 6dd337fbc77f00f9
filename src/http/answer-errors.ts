/** Outermost middleware: turns an error into a response of the one error shape; an unknown error is a plain 500. */
import type { Context, Next } from 'koa';
import type { Logger } from '../observability/logger.js';
import { ApiError } from './api-error.js';
import { notNow } from './not-now.js';
import { aboutRequest } from './request-context.js';

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

/** One span per request: the request's appends and its test event are children of it. */
import type { Context, Middleware, Next } from 'koa';
import type { Tracing } from '../observability/tracing.js';
import { traceOf } from './request-context.js';

export function traced(tracing: Pick<Tracing, 'request'>): Middleware {
  return async (ctx: Context, next: Next): Promise<void> => {
    const span = tracing.request(ctx.method, traceOf(ctx));
    ctx.state.trace = span?.context ?? ctx.state.trace;
    await next();
    span?.end(ctx.state.route?.path ?? null, ctx.status);
  };
}

/** Counts and times every response by its route's template, never by its path, which contains ids. */
import type { Context, Middleware, Next } from 'koa';
import type { HttpMetrics, Route } from '../observability/metrics.js';
import type { Operation } from './operation.js';

export function measured(metrics: HttpMetrics): Middleware {
  return async (ctx, next) => {
    const begun = performance.now();
    await next();
    metrics.answered(ctx.state.route ?? null, ctx.status, performance.now() - begun);
  };
}

/** First in an operation's route, because later middleware may refuse the request. */
export function tagRoute({ method, path }: Pick<Operation, 'method' | 'path'>): Middleware {
  const route: Route = { method: method.toUpperCase(), path };
  return (ctx: Context, next: Next): Promise<void> => {
    ctx.state.route = route;
    return next();
  };
}

/**
 * Common to every request and response. An id: the caller's own X-Request-Id if well-formed, else a new one; echoed
 * back. The trace that the request belongs to (traceparent), if any. And no-store: a response is private to its account
 * and true only now.
 */
import type { Context, Middleware, Next } from 'koa';
import type { Caller, Publisher } from '../accounts/access-tokens.js';
import type { Reserve, ReservingRequester } from '../limits/reserve.js';
import { type Requester, requester } from '../limits/user-limits.js';
import type { HttpMetrics, Route } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import { parseTraceContext, type TraceContext } from '../observability/tracing.js';
import type { CommandContext } from '../webhooks/envelope.js';
import type { Right } from '../webhooks/limits.js';

/**
 * Characters. For shorter responses the limit on connections suffices. Counting every response made GET 0.66 of the bare
 * route; with this limit it was 0.71.
 */
const LONG = 4 * 1024;
const SOUND_ID = /^[\w.:-]{1,128}$/;

export function requestContext(newId: () => string) {
  return (ctx: Context, next: Next): Promise<void> => {
    const { res, state } = ctx;
    const requestId = sound(ctx.get('x-request-id')) ?? newId();
    state.requestId = requestId;
    state.correlationId = sound(ctx.get('x-correlation-id')) ?? requestId;
    state.trace = parseTraceContext(ctx.get('traceparent'), ctx.get('tracestate'));
    res.setHeader('x-request-id', requestId);
    res.setHeader('cache-control', 'no-store');
    return next();
  };
}

/** Whether a response of this length is counted until it is read (admission.ts). */
export function isLong(length: number): boolean {
  return length >= LONG;
}

export function commandContext(ctx: Context, actor: string): CommandContext {
  const { requestId, correlationId, requester } = ctx.state;
  return { actor, requestId, correlationId, trace: traceOf(ctx), requester };
}

/** The caller of a request that passed `authenticate`, as limits count it: by its session, or else by its client. */
export function requesterOf(ctx: Pick<Context, 'state'>): Requester {
  ctx.state.requester ??= requester(callerOf(ctx).accountId, userOf(callerOf(ctx)));
  return ctx.state.requester;
}

/** From here on the request may draw on the reserve of its user. */
export function mayUseReserve(ctx: Pick<Context, 'state'>, reserve: Reserve): ReservingRequester {
  const caller = callerOf(ctx);
  const reserving = reserve.requester(caller.accountId, userOf(caller));
  ctx.state.requester = reserving;
  return reserving;
}

function userOf({ session, actor }: Caller): string {
  return session?.id ?? actor;
}

/** The caller of a request that passed `authenticate`. Throws for any other: a route without it is our fault. */
export function callerOf({ state }: Pick<Context, 'state'>): Caller {
  const caller = state.caller as Caller | undefined;
  if (!caller) throw new Error('the route does not authenticate');
  return caller;
}

/** Whether the caller has the right. A token of the account has every right. */
export function may(ctx: Pick<Context, 'state'>, right: Right): boolean {
  return callerOf(ctx).session?.can.includes(right) ?? true;
}

/** Like `callerOf`, for a publisher. */
export function publisherOf({ state }: Pick<Context, 'state'>): Publisher {
  const publisher = state.publisher as Publisher | undefined;
  if (!publisher) throw new Error('the route does not authenticate publishers');
  return publisher;
}

export function traceOf({ state }: Pick<Context, 'state'>): TraceContext | null {
  return (state.trace as TraceContext | null | undefined) ?? null;
}

export function aboutRequest({ state }: Context) {
  const { requestId, correlationId, caller, publisher: holder } = state;
  const accountId = (caller as Caller | undefined)?.accountId;
  const publisher = (holder as Publisher | undefined)?.publisher;
  return { accountId, publisher, requestId, correlationId, traceId: traceOf({ state })?.traceId };
}

function sound(id: string): string | undefined {
  return SOUND_ID.test(id) ? id : undefined;
}

/** Counts and times every response by its route's template, never by its path, which contains ids. */
export function measured(metrics: HttpMetrics): Middleware {
  return async (ctx, next) => {
    const begun = performance.now();
    await next();
    metrics.answered(ctx.state.route ?? null, ctx.status, performance.now() - begun);
  };
}

/** Also what `handle` refuses is counted as of this route. */
export function tagged({ method, path }: Route, handle: Middleware, metrics?: HttpMetrics): Middleware {
  const route: Route = { method: method.toUpperCase(), path };
  metrics?.expect(route);
  return (ctx, next) => {
    ctx.state.route = route;
    return handle(ctx, next);
  };
}

/** One span per request: the request's appends and its test event are children of it. */
export function traced(tracing: Pick<Tracing, 'begin'>): Middleware {
  return async (ctx: Context, next: Next): Promise<void> => {
    const { method } = ctx;
    const span = tracing.begin({
      name: method,
      kind: 'server',
      parent: traceOf(ctx),
      attributes: { 'http.request.method': method },
    });
    ctx.state.trace = span.context;
    await next();
    const route = ctx.state.route?.path;
    const answered = { 'http.response.status_code': ctx.status, ...(route && { 'http.route': route }) };
    span.end(ctx.status >= 500 ? String(ctx.status) : null, answered, route && `${method} ${route}`);
  };
}

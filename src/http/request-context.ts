/**
 * What every request and answer have. An id: the caller's own X-Request-Id where it is a sound one, else a new one; echoed
 * back. The trace it belongs to, where it says so (traceparent). And no-store: answers are an account's own, and true for now only.
 */
import type { Context, Next } from 'koa';
import type { Caller } from '../accounts/access-tokens.js';
import { parseTraceContext, type TraceContext } from '../observability/trace-context.js';
import type { CommandContext } from '../webhooks/envelope.js';

const SOUND_ID = /^[\w.:-]{1,128}$/;

export function requestContext(newId: () => string) {
  return ({ req: { headers }, res, state }: Context, next: Next): Promise<void> => {
    const requestId = sound(headers['x-request-id']) ?? newId();
    state.requestId = requestId;
    state.correlationId = sound(headers['x-correlation-id']) ?? requestId;
    state.trace = parseTraceContext(text(headers.traceparent), text(headers.tracestate));
    res.setHeader('x-request-id', requestId);
    res.setHeader('cache-control', 'no-store');
    return next();
  };
}

export function commandContext(ctx: Context, actor: string): CommandContext {
  const { requestId, correlationId } = ctx.state;
  return { actor, requestId, correlationId, trace: traceOf(ctx) };
}

/** Of a request that passed `authenticate`; of any other it throws: a route without it is our fault. */
export function callerOf({ state }: Pick<Context, 'state'>): Caller {
  const caller = state.caller as Caller | undefined;
  if (!caller) throw new Error('the route does not authenticate');
  return caller;
}

/** Null: it belongs to none. */
export function traceOf({ state }: Pick<Context, 'state'>): TraceContext | null {
  return (state.trace as TraceContext | null | undefined) ?? null;
}

/** What every log line about a request has. */
export function aboutRequest({ state }: Context) {
  const { requestId, correlationId, caller } = state;
  const accountId = (caller as Caller | undefined)?.accountId;
  return { accountId, requestId, correlationId, traceId: traceOf({ state })?.traceId };
}

function sound(id: string | string[] | undefined): string | undefined {
  return typeof id === 'string' && SOUND_ID.test(id) ? id : undefined;
}

/** Node joins the values of a name that stands more than once; the type does not know which names those are. */
function text(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

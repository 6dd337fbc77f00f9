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
  return async (ctx: Context, next: Next): Promise<void> => {
    const requestId = given(ctx, 'x-request-id') ?? newId();
    ctx.state.requestId = requestId;
    ctx.state.correlationId = given(ctx, 'x-correlation-id') ?? requestId;
    ctx.state.trace = parseTraceContext(ctx.get('traceparent'), ctx.get('tracestate'));
    ctx.set({ 'x-request-id': requestId, 'cache-control': 'no-store' });
    await next();
  };
}

export function commandContext(ctx: Context, actor: string): CommandContext {
  const { requestId, correlationId } = ctx.state;
  return { actor, requestId, correlationId, trace: traceOf(ctx) };
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

function given(ctx: Context, name: string): string | undefined {
  const value = ctx.get(name);
  return SOUND_ID.test(value) ? value : undefined;
}

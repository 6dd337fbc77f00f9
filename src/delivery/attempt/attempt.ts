import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import { requestTarget } from '../../endpoints/endpoint-url.js';
import { isShortage } from '../../endpoints/failure.js';
import type { Logger } from '../../observability/logger.js';
import { childOf, type TraceContext, traceparentOf } from '../../observability/trace-context.js';
import type { AttemptSpan, Tracing } from '../../observability/tracing.js';
import { attributeHeaders, type Content, type Header, JSON_CONTENT } from '../payment/cloud-event-attributes.js';
import { type Classification, classify, STALLED } from './classification.js';
import { AbortListeners, exchangeWithin } from './exchange-within.js';
import { signatureOf } from './signature.js';

export interface AttemptOptions {
  readonly agent: EndpointAgent;
  /** From name resolution to the end of the headers; the body has what is left of it. */
  readonly timeoutMs: number;
  /** Gets the cause of each failure, at debug. */
  readonly logger?: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  readonly userAgent: string;
}

export interface AttemptRequest {
  /** Whose connection it is afterwards. */
  readonly accountId: number;
  /** A normalised https URL (parseEndpoint). */
  readonly url: string;
  /** webhook-id */
  readonly id: string;
  /** Sent unchanged. */
  readonly body: Buffer;
  /** The content type and attributes of the body. Default: JSON. */
  readonly content?: Content | undefined;
  /** The webhook's own headers, with names as they are sent. */
  readonly headers: readonly Header[];
  readonly secrets: readonly Buffer[];
  /** The service's shutdown. Any number of attempts may share it: all of them add one listener. */
  readonly signal: AbortSignal;
  /** Sent as traceparent and tracestate. */
  readonly trace?: TraceContext | null;
  /** The span of the previous attempt, if one was exported. */
  readonly previous?: string | null;
}

interface Timing {
  /** Start of the attempt, ms since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** The attempt's own span, if one was exported. */
  readonly span?: TraceContext;
  /** Fulfilled once the connection is free or closed: until then the attempt counts as in flight. Absent if it already is. */
  readonly over?: Promise<void>;
  /** The start of an answer that is not 2xx; absent if it had no body. */
  readonly response?: string | undefined;
}

export type AttemptResult = Timing & Classification;

/** Sends a payment event to a URL once. Never rejects. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptResult>;

export function createAttempt({ agent, timeoutMs, now, userAgent, logger }: AttemptOptions): Attempt {
  const exchanging = { agent, timeoutMs, abortListeners: new AbortListeners() };
  return async function attempt(request) {
    const at = now();
    const dispatched = toDispatch(request, userAgent, Math.floor(at / 1000));
    const begun = performance.now();
    const { decided, over, answer } = await exchangeWithin(exchanging, dispatched, request.signal);
    const end = now();
    if (logger && decided.kind === 'failed') logCause(logger, request, decided.error);
    const result = classify(decided, end);
    const isStalled = decided.kind !== 'response' && result.kind === 'retryable' && agent.hasStalledSince(begun);
    const response = await answer?.text();
    return {
      at,
      durationMs: Math.max(0, end - at),
      ...(isStalled ? STALLED : result),
      ...(response !== undefined && { response }),
      ...(over && { over }),
    };
  };
}

/** Logs code and message only: undici's errors also contain received bytes and both addresses. */
function logCause(logger: Logger, { id, accountId }: AttemptRequest, error: NodeJS.ErrnoException): void {
  const { code, message } = error;
  const logFields = { deliveryId: id, accountId, cause: { code, message } };
  if (isShortage(error)) logger.error(logFields, 'no socket can be opened; the attempt does not count');
  else logger.debug(logFields, 'an attempt got no status');
}

/** Builds the request: the Standard Webhooks headers, the trace and CloudEvent headers, then the webhook's own. */
function toDispatch(
  { accountId, url, id, body, content = JSON_CONTENT, secrets, headers, trace }: AttemptRequest,
  userAgent: string,
  timestamp: number,
): EndpointRequest {
  const target = new URL(url);
  return {
    accountId,
    origin: target.origin,
    path: requestTarget(target),
    method: 'POST',
    body,
    // A flat list of names and values: an object would lose `__proto__`.
    headers: [
      ...['content-type', content.type, 'user-agent', userAgent, 'webhook-id', id],
      ...['webhook-timestamp', String(timestamp)],
      ...['webhook-signature', signatureOf({ id, timestamp, body, secrets })],
      ...traceHeaders(trace, headers),
      ...attributeHeaders(content, headers),
      ...headers.flatMap(({ key, value }) => [key, value]),
    ],
  };
}

/** A flat list. @param own the webhook's registered headers, which replace headers of these names */
export function traceHeaders(trace: TraceContext | null | undefined, own: readonly Header[]): readonly string[] {
  if (!trace || hasHeader(own, 'traceparent')) return [];
  const traceparent = ['traceparent', traceparentOf(trace)];
  return trace.state === null || hasHeader(own, 'tracestate')
    ? traceparent
    : [...traceparent, 'tracestate', trace.state];
}

function hasHeader(headers: readonly Header[], name: string): boolean {
  return headers.some(({ key }) => key.toLowerCase() === name);
}

/**
 * Gives each attempt a child span of its own, from whose id the endpoint may continue the trace.
 * @param random from 0 up to, not including, 1
 */
export function tracedAttempt(attempt: Attempt, tracing: Pick<Tracing, 'attempt'>, random: () => number): Attempt {
  return (request) => {
    const span = tracing.attempt(request);
    if (span) return inSpan(span, attempt, request);
    return request.trace ? attempt({ ...request, trace: childOf(request.trace, random) }) : attempt(request);
  };
}

async function inSpan(span: AttemptSpan, attempt: Attempt, request: AttemptRequest): Promise<AttemptResult> {
  const result = await attempt({ ...request, trace: span.context });
  span.end(result.status, result.kind === 'interrupted' ? 'interrupted' : result.error);
  return { ...result, span: span.context };
}

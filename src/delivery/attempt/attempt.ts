import type { Dispatcher } from 'undici';
import type { EndpointAgent } from '../../endpoints/endpoint-agent.js';
import type { TraceContext } from '../../observability/trace-context.js';
import { attributeHeaders, type Content, JSON_CONTENT } from '../payment/cloud-event-attributes.js';
import { AbortListeners } from './abort-listeners.js';
import { beginDeadline } from './deadline.js';
import { type CancelReason, type Ended, Exchange } from './exchange.js';
import { type FailureCode, failureCodeOf, isShutdown } from './failure-code.js';
import { retryAfterMs } from './retry-after.js';
import { signatureOf } from './signature.js';
import { traceHeaders } from './trace-headers.js';

export interface AttemptOptions {
  readonly agent: EndpointAgent;
  /** One deadline over the whole exchange, from the name's resolution to the end of the body. */
  readonly timeoutMs: number;
  /** ms since the epoch */
  readonly now: () => number;
  readonly userAgent: string;
}

export interface AttemptRequest {
  /** A normalised https URL (parseEndpoint). */
  readonly url: string;
  /** webhook-id */
  readonly id: string;
  /** Sent as it is. */
  readonly body: Buffer;
  /** What the body is; JSON without it. */
  readonly content?: Content;
  /** The webhook's own, with names as they are to be sent. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly secrets: readonly Buffer[];
  /** The service's shutdown. May be shared by any number of attempts: it gets one listener of them all. */
  readonly signal: AbortSignal;
  /** Sent as traceparent and tracestate. */
  readonly trace?: TraceContext | null;
  /** The span of the attempt before it, where one was exported. */
  readonly previous?: string | null;
}

interface Timing {
  /** When it began, ms since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** Its own, where one was exported. */
  readonly span?: TraceContext;
}

/**
 * delivered: 2xx. gone: 410. retryable: any other status, and whatever went wrong. interrupted: our own shutdown; it
 * says nothing of the endpoint. `error` is null where an HTTP response came in full, else `status` is that of the
 * response that did not.
 */
type Verdict =
  | { readonly kind: 'delivered'; readonly status: number; readonly error: null; readonly retryAfterMs: null }
  | { readonly kind: 'gone'; readonly status: 410; readonly error: null; readonly retryAfterMs: null }
  | {
      readonly kind: 'retryable';
      readonly status: number | null;
      readonly error: FailureCode | null;
      /** What Retry-After of a 429 or 503 asked for. */
      readonly retryAfterMs: number | null;
      /** No connection was made. */
      readonly unreachable?: boolean;
    }
  | { readonly kind: 'interrupted'; readonly status: null; readonly error: null; readonly retryAfterMs: null };

export type AttemptResult = Timing & Verdict;

/** Sends a payment event to a URL once. It never rejects. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptResult>;

const INTERRUPTED: Verdict = { kind: 'interrupted', status: null, error: null, retryAfterMs: null };

export function createAttempt({ agent, timeoutMs, now, userAgent }: AttemptOptions): Attempt {
  const exchanging = { agent, timeoutMs, abortListeners: new AbortListeners() };
  return async function attempt(request) {
    const at = now();
    const dispatched = toDispatch(request, { userAgent, timestamp: Math.floor(at / 1000) });
    const ended = await exchangeWithin(exchanging, dispatched, request.signal);
    const end = now();
    return { at, durationMs: Math.max(0, end - at), ...verdictOf(ended, end) };
  };
}

/** What is sent for a try: Standard Webhooks' headers, those of its trace and of a CloudEvent, then the webhook's own. */
function toDispatch(
  { url, id, body, content = JSON_CONTENT, secrets, headers, trace }: AttemptRequest,
  { userAgent, timestamp }: { userAgent: string; timestamp: number },
): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return {
    origin,
    path: pathname + search,
    method: 'POST',
    body,
    // Names and values in turn: in an object `__proto__` would be lost.
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

/** The exchange, ended by the deadline or by the signal if not by itself. */
async function exchangeWithin(
  { agent, timeoutMs, abortListeners }: { agent: EndpointAgent; timeoutMs: number; abortListeners: AbortListeners },
  dispatched: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<Ended> {
  let current: Exchange | undefined;
  const cancel = (reason: CancelReason) => current?.cancel(reason);
  const interrupt = () => cancel('interrupted');
  const endDeadline = beginDeadline(timeoutMs, () => cancel('timeout'));
  abortListeners.add(signal, interrupt);
  const send = () => {
    if (signal.aborted) return { kind: 'cancelled', status: null, connected: false, reason: 'interrupted' } as const;
    current = new Exchange(agent, dispatched);
    return current.ended;
  };
  try {
    return await sendAgainIfStale(agent, send);
  } finally {
    endDeadline();
    abortListeners.delete(signal, interrupt);
  }
}

/**
 * A server may close a kept-alive connection at the moment a request is sent on it. That says nothing of the endpoint:
 * the request is sent once more, at once. A connection made for this attempt gets no second chance.
 */
async function sendAgainIfStale(agent: EndpointAgent, send: () => Ended | Promise<Ended>): Promise<Ended> {
  const begun = performance.now();
  const ended = await send();
  const stale = ended.kind === 'failed' && !ended.answered && agent.endedOlderConnection(ended.error, begun);
  return stale ? send() : ended;
}

/** @param now when the exchange ended: what Retry-After is counted from */
function verdictOf(ended: Ended, now: number): Verdict {
  switch (ended.kind) {
    case 'response':
      return verdictOfResponse(ended.status, ended.retryAfter, now);
    case 'failed':
      return isShutdown(ended.error) ? INTERRUPTED : failed(ended, failureCodeOf(ended.error));
    case 'cancelled':
      return ended.reason === 'interrupted' ? INTERRUPTED : failed(ended, 'timeout');
    default:
      return ended satisfies never;
  }
}

function verdictOfResponse(status: number, retryAfter: string | null, now: number): Verdict {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, error: null, retryAfterMs: null };
  if (status === 410) return { kind: 'gone', status, error: null, retryAfterMs: null };
  const mayAskToWait = (status === 429 || status === 503) && retryAfter !== null;
  return { kind: 'retryable', status, error: null, retryAfterMs: mayAskToWait ? retryAfterMs(retryAfter, now) : null };
}

function failed({ status, connected }: Exclude<Ended, { kind: 'response' }>, error: FailureCode): Verdict {
  return { kind: 'retryable', status, error, retryAfterMs: null, ...(!connected && { unreachable: true }) };
}

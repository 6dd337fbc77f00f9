import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import { requestTarget } from '../../endpoints/endpoint-url.js';
import type { TraceContext } from '../../observability/trace-context.js';
import { attributeHeaders, type Content, JSON_CONTENT } from '../payment/cloud-event-attributes.js';
import { AbortListeners } from './abort-listeners.js';
import { beginDeadline } from './deadline.js';
import { type CancelReason, type Ended, Exchange } from './exchange.js';
import { type FailureCode, failureCodeOf, isHandshakeFailure, isShutdown } from './failure-code.js';
import { retryAfterMs } from './retry-after.js';
import { signatureOf } from './signature.js';
import { traceHeaders } from './trace-headers.js';

export interface AttemptOptions {
  readonly agent: EndpointAgent;
  /** One deadline for the whole exchange, from name resolution to the end of the body. */
  readonly timeoutMs: number;
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
  readonly content?: Content;
  /** The webhook's own headers, with names as they are sent. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
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
}

/**
 * delivered: 2xx. gone: 410. retryable: any other status, and any error. interrupted: our own shutdown, or a failure
 * after this process stood still, which say nothing about the endpoint. `error` is null after a complete HTTP response;
 * otherwise `status` is the status of the incomplete response.
 */
type Classification =
  | { readonly kind: 'delivered'; readonly status: number; readonly error: null; readonly retryAfterMs: null }
  | { readonly kind: 'gone'; readonly status: 410; readonly error: null; readonly retryAfterMs: null }
  | {
      readonly kind: 'retryable';
      readonly status: number | null;
      readonly error: FailureCode | null;
      /** The delay that Retry-After of a 429 or 503 asked for. */
      readonly retryAfterMs: number | null;
      /** connecting: no connection was established. handshake: it was, but TLS failed. */
      readonly failedIn?: 'connecting' | 'handshake';
    }
  | {
      readonly kind: 'interrupted';
      readonly by: 'stop' | 'stall';
      readonly status: null;
      readonly error: null;
      readonly retryAfterMs: null;
    };

type Retryable = Extract<Classification, { kind: 'retryable' }>;

export type AttemptResult = Timing & Classification;

/** Sends a payment event to a URL once. Never rejects. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptResult>;

const INTERRUPTED = { kind: 'interrupted', status: null, error: null, retryAfterMs: null } as const;
const STOPPED: Classification = { ...INTERRUPTED, by: 'stop' };
/** Receivers and networks give up on a process that is silent, and its own deadlines pass. */
const STALLED: Classification = { ...INTERRUPTED, by: 'stall' };

export function createAttempt({ agent, timeoutMs, now, userAgent }: AttemptOptions): Attempt {
  const exchanging = { agent, timeoutMs, abortListeners: new AbortListeners() };
  return async function attempt(request) {
    const at = now();
    const dispatched = toDispatch(request, { userAgent, timestamp: Math.floor(at / 1000) });
    const begun = performance.now();
    const ended = await exchangeWithin(exchanging, dispatched, request.signal);
    const end = now();
    const result = classify(ended, end);
    const isStalled = ended.kind !== 'response' && result.kind === 'retryable' && agent.hasStalledSince(begun);
    return { at, durationMs: Math.max(0, end - at), ...(isStalled ? STALLED : result) };
  };
}

/** Builds the request: the Standard Webhooks headers, the trace and CloudEvent headers, then the webhook's own. */
function toDispatch(
  { accountId, url, id, body, content = JSON_CONTENT, secrets, headers, trace }: AttemptRequest,
  { userAgent, timestamp }: { userAgent: string; timestamp: number },
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

/** Runs the exchange until it ends, the deadline passes or the signal aborts. */
async function exchangeWithin(
  { agent, timeoutMs, abortListeners }: { agent: EndpointAgent; timeoutMs: number; abortListeners: AbortListeners },
  dispatched: EndpointRequest,
  signal: AbortSignal,
): Promise<Ended> {
  let current: Exchange | undefined;
  const cancel = (reason: CancelReason) => current?.cancel(reason);
  const interrupt = () => cancel('interrupted');
  const endDeadline = beginDeadline(timeoutMs, () => cancel('timeout'));
  abortListeners.add(signal, interrupt);
  const send = (onNewConnection: boolean) => {
    if (signal.aborted) return { kind: 'cancelled', status: null, connected: false, reason: 'interrupted' } as const;
    current = new Exchange(agent, onNewConnection ? { ...dispatched, onNewConnection } : dispatched);
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
 * A server may close a kept-alive connection just as a request is sent on it. That says nothing about the endpoint, so
 * the request is resent once, at once, and not on another that was idle: a server that stops closes all of them. A
 * connection made for this attempt gets no second chance.
 */
async function sendAgainIfStale(
  agent: EndpointAgent,
  send: (onNewConnection: boolean) => Ended | Promise<Ended>,
): Promise<Ended> {
  const begun = performance.now();
  const ended = await send(false);
  const stale = ended.kind === 'failed' && !ended.answered && agent.endedOlderConnection(ended.error, begun);
  return stale ? send(true) : ended;
}

/** @param now end of the exchange, from which Retry-After counts */
function classify(ended: Ended, now: number): Classification {
  switch (ended.kind) {
    case 'response':
      return classifyResponse(ended.status, ended.retryAfter, now);
    case 'failed':
      return isShutdown(ended.error) ? STOPPED : failedWith(ended);
    case 'cancelled':
      return ended.reason === 'interrupted' ? STOPPED : failed(ended, 'timeout');
    default:
      return ended satisfies never;
  }
}

function classifyResponse(status: number, retryAfter: string | null, now: number): Classification {
  if (status >= 200 && status < 300) return { kind: 'delivered', status, error: null, retryAfterMs: null };
  if (status === 410) return { kind: 'gone', status, error: null, retryAfterMs: null };
  const mayAskToWait = (status === 429 || status === 503) && retryAfter !== null;
  return { kind: 'retryable', status, error: null, retryAfterMs: mayAskToWait ? retryAfterMs(retryAfter, now) : null };
}

function failedWith(ended: Extract<Ended, { kind: 'failed' }>): Classification {
  const failure = failed(ended, failureCodeOf(ended.error));
  return isHandshakeFailure(ended.error) ? { ...failure, failedIn: 'handshake' } : failure;
}

function failed({ status, connected }: Exclude<Ended, { kind: 'response' }>, error: FailureCode): Retryable {
  return { kind: 'retryable', status, error, retryAfterMs: null, ...(!connected && { failedIn: 'connecting' }) };
}

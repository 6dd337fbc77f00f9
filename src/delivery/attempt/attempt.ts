import type { EndpointAgent, EndpointRequest } from '../../endpoints/endpoint-agent.js';
import { requestTarget } from '../../endpoints/endpoint-url.js';
import { isShortage } from '../../endpoints/failure.js';
import type { Logger } from '../../observability/logger.js';
import {
  type NewSpan,
  type Span,
  type TraceContext,
  type Tracing,
  traceparentOf,
} from '../../observability/tracing.js';
import { attributeHeaders, type Content, type Header, JSON_CONTENT } from '../../payments/cloud-event-attributes.js';
import { AgeQueue, beginDeadline } from '../../time/deadlines.js';
import { type Classification, classify, type Decided } from './classification.js';
import { Exchange } from './exchange.js';
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
  /** The webhook's own headers, with names as they are sent: one array for each version of a webhook. */
  readonly headers: readonly Header[];
  readonly secrets: readonly Buffer[];
  /** The service's shutdown. Any number of attempts may share it: all of them add one listener. */
  readonly signal: AbortSignal;
  /** Sent as traceparent and tracestate. */
  readonly trace?: TraceContext | null;
  /** Whether the start of the answer is kept of a 2xx too. Default: false. */
  readonly keepsAnswer?: boolean | undefined;
  /** It waited for its slot: such requests go out together, after a turn of the event loop. Default: false. */
  readonly hasWaited?: boolean | undefined;
}

interface Timing {
  /** Start of the attempt, ms since the epoch. */
  readonly at: number;
  readonly durationMs: number;
  /** Fulfilled once the connection is free or closed: until then the attempt counts as in flight. Absent if it already is. */
  readonly over?: Promise<void> | undefined;
  /** The start of an answer that is kept; absent if it had no body. */
  readonly response?: string | undefined;
}

export type AttemptResult = Timing & Classification;

/** Sends a payment event to a URL once. Never rejects. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptResult>;

export function createAttempt({ agent, timeoutMs, now, userAgent, logger }: AttemptOptions): Attempt {
  const underWay = new UnderWay(timeoutMs);
  const target = preparedTargets();

  /** At the end of the exchange's head. */
  const resultOf = (request: AttemptRequest, exchange: Exchange, at: number, decided: Decided): AttemptResult => {
    const end = now();
    const over = exchange.rest();
    if (over) void over.then(() => underWay.delete(exchange));
    else underWay.delete(exchange);
    if (logger && decided.kind === 'failed') logCause(logger, request, decided.error);
    const result = classify(decided, end);
    const timing = { at, durationMs: Math.max(0, end - at), over: over ?? undefined };
    // A literal: spreading the result took 2 us, more than anything else on the way to its entry.
    if (result.kind === 'delivered') {
      const { at, durationMs, over } = timing;
      return { kind: 'delivered', status: result.status, error: null, retryAfterMs: null, at, durationMs, over };
    }
    return { ...result, ...timing };
  };

  return (request) => {
    const at = now();
    if (request.signal.aborted) return Promise.resolve({ ...classify(STOPPED, at), at, durationMs: 0 });
    const dispatched = toDispatch(request, target(request), userAgent, Math.floor(at / 1000));
    const exchange = new Exchange(agent, dispatched, request);
    underWay.add(exchange);
    return exchange.send().decided.then((decided) => {
      const made = resultOf(request, exchange, at, decided);
      return exchange.answer ? exchange.answer.text().then((response) => ({ ...made, response })) : made;
    });
  };
}

const STOPPED = { kind: 'cancelled', phase: 'connecting', reason: 'interrupted' } as const;

/** The exchanges under way. Each is cancelled at its deadline, and when its signal aborts. */
class UnderWay {
  readonly #deadlines: AgeQueue<Exchange>;
  /** One listener for each: an AbortSignal walks its list for every removal, 1.1 us among 192. */
  readonly #listened = new WeakSet<AbortSignal>();

  constructor(timeoutMs: number) {
    const clock = { now: () => performance.now(), after: beginDeadline };
    this.#deadlines = new AgeQueue(clock, timeoutMs, (exchange) => exchange.cancel('timeout'));
  }

  add(exchange: Exchange): void {
    const { signal } = exchange;
    this.#deadlines.add(exchange, exchange.begunAt);
    if (this.#listened.has(signal)) return;
    this.#listened.add(signal);
    signal.addEventListener('abort', () => this.#interrupt(signal), { once: true });
  }

  delete(exchange: Exchange): void {
    this.#deadlines.delete(exchange);
  }

  #interrupt(signal: AbortSignal): void {
    for (const exchange of this.#deadlines.items()) if (exchange.signal === signal) exchange.cancel('interrupted');
  }
}

/** Logs code and message only: undici's errors also contain received bytes and both addresses. */
function logCause(logger: Logger, { id, accountId }: AttemptRequest, error: NodeJS.ErrnoException): void {
  const { code, message } = error;
  const logFields = { deliveryId: id, accountId, cause: { code, message } };
  if (isShortage(error)) logger.error(logFields, 'no socket can be opened; the attempt does not count');
  else logger.debug(logFields, 'an attempt got no status');
}

/** What all attempts of a version of a webhook share. */
interface Target {
  readonly url: string;
  readonly origin: string;
  readonly path: string;
  /** A flat list of names and values: an object would lose `__proto__`. */
  readonly headers: readonly string[];
  /** In lower case. */
  readonly names: ReadonlySet<string>;
}

/** Kept as long as the headers are, which are one array for each version. */
function preparedTargets() {
  const targets = new WeakMap<AttemptRequest['headers'], Target>();
  return ({ url, headers }: Pick<AttemptRequest, 'url' | 'headers'>): Target => {
    const known = targets.get(headers);
    if (known?.url === url) return known;
    const parsed = new URL(url);
    const target = {
      url,
      origin: parsed.origin,
      path: requestTarget(parsed),
      headers: headers.flatMap(({ key, value }) => [key, value]),
      names: new Set(headers.map(({ key }) => key.toLowerCase())),
    };
    targets.set(headers, target);
    return target;
  };
}

/** Builds the request: the Standard Webhooks headers, the trace and CloudEvent headers, then the webhook's own. */
function toDispatch(
  { accountId, id, body, content = JSON_CONTENT, secrets, trace, hasWaited }: AttemptRequest,
  { url, origin, path, headers, names }: Target,
  userAgent: string,
  timestamp: number,
): EndpointRequest {
  const signature = signatureOf({ id, timestamp, body, secrets });
  const list = ['content-type', content.type, 'user-agent', userAgent, 'webhook-id', id];
  list.push('webhook-timestamp', String(timestamp), 'webhook-signature', signature);
  if (trace) list.push(...traceHeaders(trace, names));
  if (content.attributes.length > 0) list.push(...attributeHeaders(content, names));
  list.push(...headers);
  return { accountId, url, origin, path, method: 'POST', body, headers: list, hasWaited };
}

/** A flat list. @param own the webhook's registered headers, which replace headers of these names */
export function traceHeaders(trace: TraceContext, own: ReadonlySet<string>): readonly string[] {
  if (own.has('traceparent')) return [];
  const traceparent = ['traceparent', traceparentOf(trace)];
  return trace.state === null || own.has('tracestate') ? traceparent : [...traceparent, 'tracestate', trace.state];
}

/** Gives each attempt a span of its own, from whose id the endpoint may continue the trace. */
export function tracedAttempt(attempt: Attempt, tracing: Pick<Tracing, 'begin'>): Attempt {
  return (request) => inSpan(tracing.begin(spanOf(request)), attempt, request);
}

function spanOf({ url, id, trace: parent = null }: AttemptRequest): NewSpan {
  const { hostname, port } = new URL(url);
  const attributes = {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port || 443),
    'account_webhooks.delivery.id': id,
  };
  return { name: 'POST', kind: 'client', parent, attributes };
}

async function inSpan(span: Span, attempt: Attempt, request: AttemptRequest): Promise<AttemptResult> {
  const result = await attempt({ ...request, trace: span.context });
  const { status } = result;
  const isRefused = status !== null && (status < 200 || status > 299);
  const error = result.kind === 'interrupted' ? 'interrupted' : result.error;
  span.end(
    error ?? (isRefused ? String(status) : null),
    status === null ? {} : { 'http.response.status_code': status },
  );
  return result;
}

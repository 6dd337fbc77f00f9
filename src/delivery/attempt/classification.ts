/** The result of an attempt, from what decided its exchange. */
import type { Failure, Phase } from '../../endpoints/failure.js';
import { failureOf, isHandshakeFailure, isShortage, isShutdown } from '../../endpoints/failure.js';
import { MAX_HTTP_DATE_CHARACTERS, parseHttpDate } from '../../time/http-date.js';
import type { EndpointSignal } from '../isolation/circuit-breaker.js';
import type { AttemptEnd } from '../isolation/endpoint.js';

/**
 * What decides an exchange. `response`: a status line, with the headers if these are complete and valid. `phase` of the
 * other kinds: the step in progress. `began`: the first bytes of a response.
 */
export type Decided =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'failed'; readonly phase: Phase; readonly began: string; readonly error: Error }
  | { readonly kind: 'cancelled'; readonly phase: Phase; readonly reason: 'timeout' | 'interrupted' };

/**
 * delivered: 2xx. gone: 410. retryable: any other status, and any failure. interrupted: our own shutdown, or a lack of
 * descriptors or memory here, which say nothing about the endpoint. `error` is null if a status came.
 */
export type Classification =
  | { readonly kind: 'delivered'; readonly status: number; readonly error: null; readonly retryAfterMs: null }
  | { readonly kind: 'gone'; readonly status: 410; readonly error: null; readonly retryAfterMs: null }
  /** retryAfterMs: the delay that Retry-After of a 429 or 503 asked for. */
  | { readonly kind: 'retryable'; readonly status: number; readonly error: null; readonly retryAfterMs: number | null }
  | (Failure & typeof FAILED & { readonly failedIn?: FailedIn })
  | (typeof INTERRUPTED & { readonly by: 'stop' | 'shortage' });

/** connecting: no connection was established. handshake: it was, but TLS failed. */
type FailedIn = 'connecting' | 'handshake';

const FAILED = { kind: 'retryable', status: null, retryAfterMs: null } as const;
const INTERRUPTED = { kind: 'interrupted', status: null, error: null, retryAfterMs: null } as const;
const STOPPED: Classification = { ...INTERRUPTED, by: 'stop' };
const SHORT: Classification = { ...INTERRUPTED, by: 'shortage' };

/** @param now end of the exchange, from which Retry-After counts */
export function classify(decided: Decided, now: number): Classification {
  switch (decided.kind) {
    case 'response':
      return classifyResponse(decided.status, decided.retryAfter, now);
    case 'failed':
      if (isShutdown(decided.error)) return STOPPED;
      return isShortage(decided.error) ? SHORT : failed(decided);
    case 'cancelled':
      if (decided.reason === 'interrupted') return STOPPED;
      return { ...FAILED, error: 'timeout', reason: decided.phase, ...unreachableIn(decided.phase) };
    default:
      return decided satisfies never;
  }
}

function classifyResponse(status: number, retryAfter: string | null, now: number): Classification {
  if (isSuccess(status)) return { kind: 'delivered', status, error: null, retryAfterMs: null };
  if (status === 410) return { kind: 'gone', status, error: null, retryAfterMs: null };
  const mayAskToWait = (status === 429 || status === 503) && retryAfter !== null;
  return { kind: 'retryable', status, error: null, retryAfterMs: mayAskToWait ? retryAfterMs(retryAfter, now) : null };
}

/** It works and asks for less: 429, or a 503 that says until when. */
export function isRefusedOnPurpose({ status, retryAfterMs }: Pick<Classification, 'status' | 'retryAfterMs'>): boolean {
  return status === 429 || (status === 503 && retryAfterMs !== null);
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function failed({ error, phase, began }: Extract<Decided, { kind: 'failed' }>): Classification {
  const where = isHandshakeFailure(error) ? ({ failedIn: 'handshake' } as const) : unreachableIn(phase);
  return { ...FAILED, ...failureOf(error, phase, began), ...where };
}

/** An unfinished handshake counts as no connection: it costs no CPU, and looks like a host that does not answer. */
function unreachableIn(phase: Phase): { readonly failedIn?: 'connecting' } {
  return phase === 'waiting-for-headers' ? {} : { failedIn: 'connecting' };
}

/** Longer texts are neither a date nor a number of seconds below the maximum. */
const MAX_RETRY_AFTER_CHARACTERS = MAX_HTTP_DATE_CHARACTERS + 1;

/**
 * The delay that a Retry-After header asks for (RFC 9110 section 10.2.3: seconds or an HTTP-date), in ms from `now` (ms
 * since the epoch). 0 for a date in the past; null if the value is neither.
 */
export function retryAfterMs(value: string, now: number): number | null {
  const text = value.trim().slice(0, MAX_RETRY_AFTER_CHARACTERS);
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const date = parseHttpDate(text, now);
  return date === null ? null : Math.max(0, date - now);
}

/** For the scheduler. */
export function endOf(attempted: Classification | null): AttemptEnd {
  return { signal: signalOf(attempted), retryAfterMs: attempted?.retryAfterMs ?? 0 };
}

/** A 410 shows nothing: the webhook is gone, not the endpoint. Null: the attempt could not start. */
function signalOf(attempted: Classification | null): EndpointSignal {
  if (attempted?.kind === 'delivered') return 'succeeded';
  if (attempted?.kind !== 'retryable') return 'unknown';
  if (isRefusedOnPurpose(attempted)) return 'refused';
  if (attempted.error === null || attempted.failedIn === undefined) return 'failed';
  return attempted.failedIn === 'handshake' ? 'tls-failed' : 'unreachable';
}

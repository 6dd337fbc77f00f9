/** The result of an attempt, from what decided its exchange. */
import type { Failure, Phase } from '../../endpoints/failure.js';
import { failureOf, isHandshakeFailure, isShortage, isShutdown } from '../../endpoints/failure.js';
import { retryAfterMs } from './retry-after.js';

export type CancelReason = 'timeout' | 'interrupted';

/**
 * What decides an exchange. `response`: a status line, with the headers if these are complete and valid. `phase` of the
 * other kinds: the step in progress. `answered`: whether any response came, even a 1xx; `began`: its first bytes.
 */
export type Decided =
  | { readonly kind: 'response'; readonly status: number; readonly retryAfter: string | null }
  | {
      readonly kind: 'failed';
      readonly phase: Phase;
      readonly answered: boolean;
      readonly began: string;
      readonly error: Error;
    }
  | { readonly kind: 'cancelled'; readonly phase: Phase; readonly reason: CancelReason };

/**
 * delivered: 2xx. gone: 410. retryable: any other status, and any failure. interrupted: our own shutdown, a failure after
 * this process stood still, or a lack of descriptors or memory here, which say nothing about the endpoint. `error` is null
 * if a status came.
 */
export type Classification =
  | { readonly kind: 'delivered'; readonly status: number; readonly error: null; readonly retryAfterMs: null }
  | { readonly kind: 'gone'; readonly status: 410; readonly error: null; readonly retryAfterMs: null }
  | {
      readonly kind: 'retryable';
      readonly status: number;
      readonly error: null;
      /** The delay that Retry-After of a 429 or 503 asked for. */
      readonly retryAfterMs: number | null;
    }
  | (Failure & {
      readonly kind: 'retryable';
      readonly status: null;
      readonly retryAfterMs: null;
      /** connecting: no connection was established. handshake: it was, but TLS failed. */
      readonly failedIn?: 'connecting' | 'handshake';
    })
  | {
      readonly kind: 'interrupted';
      readonly by: 'stop' | 'stall' | 'shortage';
      readonly status: null;
      readonly error: null;
      readonly retryAfterMs: null;
    };

const FAILED = { kind: 'retryable', status: null, retryAfterMs: null } as const;
const INTERRUPTED = { kind: 'interrupted', status: null, error: null, retryAfterMs: null } as const;
const STOPPED: Classification = { ...INTERRUPTED, by: 'stop' };
const SHORT: Classification = { ...INTERRUPTED, by: 'shortage' };
/** Receivers and networks give up on a process that is silent, and its own deadlines pass. */
export const STALLED: Classification = { ...INTERRUPTED, by: 'stall' };

/** @param now end of the exchange, from which Retry-After counts */
export function classify(decided: Decided, now: number): Classification {
  switch (decided.kind) {
    case 'response':
      return classifyResponse(decided.status, decided.retryAfter, now);
    case 'failed':
      if (isShutdown(decided.error)) return STOPPED;
      return isShortage(decided.error) ? SHORT : failed(decided);
    case 'cancelled':
      return decided.reason === 'interrupted' ? STOPPED : timedOut(decided.phase);
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

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function failed({ error, phase, began }: Extract<Decided, { kind: 'failed' }>): Classification {
  const where = isHandshakeFailure(error) ? ({ failedIn: 'handshake' } as const) : unreachableIn(phase);
  return { ...FAILED, ...failureOf(error, phase, began), ...where };
}

function timedOut(phase: Phase): Classification {
  return { ...FAILED, error: 'timeout', reason: phase, ...unreachableIn(phase) };
}

/** An unfinished handshake counts as no connection: it costs no CPU, and looks like a host that does not answer. */
function unreachableIn(phase: Phase): { readonly failedIn?: 'connecting' } {
  return phase === 'waiting-for-headers' ? {} : { failedIn: 'connecting' };
}

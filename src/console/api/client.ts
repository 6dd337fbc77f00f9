/** The page's calls of the service, each with one of three ends. */
import createClient from 'openapi-fetch';
import { SERVICE } from '../state/addresses.js';
import type { components, paths } from './openapi.js';

export const api = createClient<paths>({
  baseUrl: SERVICE,
  credentials: 'same-origin',
  cache: 'no-store',
});

/** The id of the session that this page is: each call names it, and the service acts for no other. */
export const page = { session: '' };
export const SESSION = 'x-console';
api.use({
  onRequest: ({ request }) => {
    if (page.session && !request.headers.has(SESSION)) request.headers.set(SESSION, page.session);
    return request;
  },
});

type FieldError = components['schemas']['FieldError'];
/** `message` is the service's own text. */
export type Problem = Pick<FieldError, 'message' | 'params'> & { readonly code: string };

export interface Failure {
  readonly kind: 'failed';
  /** Null: no answer came. */
  readonly status: number | null;
  /** Null: the service said nothing. */
  readonly problem: Problem | null;
  readonly retryAfterMs: number;
  readonly errors: readonly FieldError[];
}

/** It would fail again: it is not to be sent again. */
export const isFinal = ({ status }: Failure) => status !== null && [400, 401, 403].includes(status);

/** same: what the caller's ETag stands for is still true. */
export type Result<T> =
  | { readonly kind: 'ok'; readonly data: T; readonly etag: string | null }
  | { readonly kind: 'same' }
  | Failure;

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

export async function resultOf<T>(call: Promise<Answer<T>>): Promise<Result<T>> {
  try {
    const { data, error, response } = await call;
    if (response.status === 304) return { kind: 'same' };
    if (data !== undefined) return { kind: 'ok', data, etag: response.headers.get('etag') };
    return { kind: 'failed', status: response.status, retryAfterMs: retryAfterMs(response), ...saidBy(error) };
  } catch {
    return { kind: 'failed', status: null, retryAfterMs: 0, ...saidBy(null) };
  }
}

function saidBy(error: unknown): Pick<Failure, 'problem' | 'errors'> {
  const said = (typeof error === 'object' ? error : null) as Partial<Problem & Pick<Failure, 'errors'>> | null;
  const { message, code = '', errors } = said ?? {};
  const problem = typeof message === 'string' ? { message, code } : null;
  return { problem, errors: problem && Array.isArray(errors) ? errors : [] };
}

function retryAfterMs({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after'));
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

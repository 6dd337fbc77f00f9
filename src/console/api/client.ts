/** The page's calls of the service, each with one of three ends. */
import createClient from 'openapi-fetch';
import { SERVICE } from '../state/addresses.js';
import type { components, paths } from './openapi.js';

export const api = createClient<paths>({
  baseUrl: SERVICE,
  credentials: 'same-origin',
  cache: 'no-store',
});

/** A page of another origin cannot set it: what changes something asks for it. */
api.use({
  onRequest: ({ request }) => {
    if (request.method !== 'GET') request.headers.set('x-console', '1');
    return request;
  },
});

type FieldError = components['schemas']['FieldError'];

export interface Failure {
  readonly kind: 'failed';
  /** Null: no answer came. */
  readonly status: number | null;
  /** The service's own words, if it had any. */
  readonly message: string | null;
  readonly retryAfterMs: number;
  readonly errors: readonly FieldError[];
}

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

function saidBy(error: unknown): Pick<Failure, 'message' | 'errors'> {
  const { message, errors } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  return { message: typeof message === 'string' ? message : null, errors: Array.isArray(errors) ? errors : [] };
}

function retryAfterMs({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after'));
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

/** The page's calls of the service, each with one of three ends. */
import createClient from 'openapi-fetch';
import { SERVICE } from '../state/addresses.js';
import type { paths } from './openapi.js';

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

export interface Failure {
  readonly kind: 'failed';
  /** Null: no answer came. */
  readonly status: number | null;
  /** The service's own words, if it had any. */
  readonly message: string | null;
  readonly retryAfterMs: number;
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
    return { kind: 'failed', status: response.status, message: messageOf(error), retryAfterMs: retryAfterMs(response) };
  } catch {
    return { kind: 'failed', status: null, message: null, retryAfterMs: 0 };
  }
}

function messageOf(error: unknown): string | null {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : null;
  return typeof message === 'string' ? message : null;
}

function retryAfterMs({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after'));
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

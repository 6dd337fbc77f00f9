/** The page's calls of the service, each with one of three ends. */
import { SERVICE } from '../state/addresses.js';
import type { Answered, Body, FieldError, Got, Operation, Path } from './shapes.js';

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

/** same: what the caller's ETag stands for is still true. */
export type Result<T> =
  | { readonly kind: 'ok'; readonly data: T; readonly etag: string | null }
  | { readonly kind: 'same' }
  | Failure;

/** It would fail again: it is not to be sent again. */
export const isFinal = ({ status }: Failure) => status !== null && [400, 401, 403].includes(status);

/** The id of the session that this page is: each call names it, and the service acts for no other. */
export const page = {
  session: '',
  /** @param session whose call was answered 401 */
  onRefused: (_session: string) => undefined as unknown,
};

/** A service that takes a call and never answers it. */
const LONGEST_MS = 10_000;

export interface Given {
  readonly params?: { readonly path?: object; readonly query?: object } | undefined;
  readonly body?: unknown;
  readonly etag?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: that of the page. */
  readonly session?: string;
}

export const get = <P extends Path>(path: P, given: Given = {}) => send<Got<P>>('GET', path, given);
export const post = <P extends Path>(
  path: P,
  given: Omit<Given, 'body'> & { readonly body?: Body<Operation<P, 'post'>> } = {},
) => send<Answered<Operation<P, 'post'>>>('POST', path, given);
export const put = <P extends Path>(path: P, body: Body<Operation<P, 'put'>>) =>
  send<Answered<Operation<P, 'put'>>>('PUT', path, { body });
export const patch = <P extends Path>(path: P, id: number, body: Body<Operation<P, 'patch'>>) =>
  send<Answered<Operation<P, 'patch'>>>('PATCH', path, { params: { path: { id } }, body });
export const remove = <P extends Path>(path: P, id?: string | number) =>
  send<Answered<Operation<P, 'delete'>>>('DELETE', path, { params: { path: { id } } });

/** Of several calls one result: what each answered, or the first failure. */
export async function all<T>(calls: readonly Promise<Result<T>>[]): Promise<Result<T[]>> {
  const results = await Promise.all(calls);
  const failure = results.find(({ kind }) => kind === 'failed') as Failure | undefined;
  const data = results.flatMap((result) => (result.kind === 'ok' ? [result.data] : []));
  return failure ?? { kind: 'ok', data, etag: null };
}

async function send<T>(method: string, path: string, given: Given): Promise<Result<T>> {
  const { body, etag, session = page.session, signal } = given;
  const late = AbortSignal.timeout(LONGEST_MS);
  try {
    const response = await fetch(urlOf(path, given.params), {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {
        ...(session && { 'x-console': session }),
        ...(etag && { 'if-none-match': etag }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
    if (response.status === 304) return { kind: 'same' };
    if (response.status === 401) page.onRefused(session);
    const answer = await response.text();
    if (response.ok) return { kind: 'ok', data: JSON.parse(answer), etag: response.headers.get('etag') };
    const retryAfterMs = Number(response.headers.get('retry-after')) * 1_000 || 0;
    return { kind: 'failed', status: response.status, retryAfterMs, ...saidBy(answer) };
  } catch {
    return { kind: 'failed', status: null, retryAfterMs: 0, problem: null, errors: [] };
  }
}

/** @param params of the path by name; of the query, what is undefined is left out */
function urlOf(path: string, { path: named = {}, query = {} }: NonNullable<Given['params']> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String((named as Record<string, unknown>)[name])),
  );
  const set = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return `${SERVICE}${filled}${set.length > 0 ? `?${new URLSearchParams(set)}` : ''}`;
}

/** Of an answer that may be a proxy's, and no JSON. */
function saidBy(answer: string): Pick<Failure, 'problem' | 'errors'> {
  try {
    const { message, code = '', params, errors } = JSON.parse(answer);
    const problem = typeof message === 'string' ? { message, code, params } : null;
    return { problem, errors: problem && Array.isArray(errors) ? errors : [] };
  } catch {
    return { problem: null, errors: [] };
  }
}
